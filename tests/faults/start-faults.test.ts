import { type DevIdentities, makeIdentities } from "@vidimus/devstack/stack/dev-identities";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openTestMongod } from "@vidimus/devstack/testing/test-mongod";
import { type ServiceName, serviceNames } from "@vidimus/devstack/stack/program-names";
import { portOf } from "@vidimus/kit/port";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startProcess } from "../support/service-start.ts";

/** A port that accepts connections and never answers. */
const silent = createServer();
let silentPort: number;
beforeAll(async () => {
  await once(silent.listen(0, "127.0.0.1"), "listening");
  silentPort = portOf(silent.address());
});
afterAll(() => silent.close());

const dir = join(tmpdir(), testDatabaseName("start-faults"));
let identities: DevIdentities;
/**
 * A mongod of this file: a start makes indexes, which wait where other tests write thousands of
 * rows.
 */
let mongod: AsyncDisposable | undefined;
beforeAll(async () => {
  await mkdir(dir, { mode: 0o700 });
  await writeFile(join(dir, "delivery-kek"), randomBytes(32), { mode: 0o600 });
  identities = await makeIdentities(dir);
  const server = await openTestMongod();
  mongod = server;
  settings.MONGODB_URL = server.url;
});
afterAll(async () => {
  await mongod?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const settings = {
  MONGODB_URL: "",
  NATS_URL: inject("natsUrl"),
  GRPC_PORT: "0",
  MESH_PORT: "0",
  OPS_PORT: "0",
  HTTP_PORT: "0",
  SIGNING: "off",
  SIGNING_KEK_FILE: join(dir, "delivery-kek"),
  DELIVERY_KEK_FILE: join(dir, "delivery-kek"),
  LOG_LEVEL: "warn",
};
const databaseAway = "mongodb://editor:hunter2@127.0.0.1:2/?replicaSet=r";

const database = testDatabaseName("start");

const endOf = (name: ServiceName, faulty: Readonly<Record<string, string>>) =>
  startProcess(name, { ...settings, MONGODB_DATABASE: `${database}_${name}`, ...faulty }).ended;

/**
 * Time for a start besides loading its code, which takes Node half a second, and several on a busy
 * machine. Loading is measured by a start that ends at its settings, and counted twice, since it
 * varies.
 */
const startMs = 4_000;
/** How long a start tries a taken port. */
const portMs = 5_000;

/**
 * Asserts that a start names the setting and its fault, and ends in time.
 *
 * @returns how long the start took, in milliseconds
 */
async function expectRefusal(
  name: ServiceName,
  faulty: Readonly<Record<string, string>>,
  words: readonly string[],
  msMax = startMs,
): Promise<number> {
  const loaded = await endOf(name, { MONGODB_URL: "" });
  expect(loaded).toMatchObject({ code: 78, stderr: expect.stringContaining("MONGODB_URL is required") });
  const { code, stderr, tookMs } = await endOf(name, faulty);
  expect([code, stderr]).toEqual([78, expect.stringContaining("cannot start")]);
  for (const word of words) expect(stderr).toContain(word);
  expect(stderr).not.toContain("hunter2");
  expect(tookMs).toBeLessThan(2 * loaded.tookMs + msMax);
  return tookMs;
}

/** Asserts that a start tries a taken port for its time, and then names the setting. */
async function expectTaken(name: ServiceName, setting: "GRPC_PORT" | "MESH_PORT" | "OPS_PORT" | "HTTP_PORT") {
  const words = [`${setting}: port ${silentPort} of 127.0.0.1 is taken`];
  const tookMs = await expectRefusal(name, { [setting]: String(silentPort) }, words, portMs + startMs);
  expect(tookMs).toBeGreaterThanOrEqual(portMs);
}

describe.each(serviceNames)("%s ends with 78 within 4 s, loading aside, and says what is wrong with", (name) => {
  it("an address that needs certificates", () =>
    expectRefusal(name, { HOST: "0.0.0.0" }, ["0.0.0.0", "TLS_CERT_FILE"]));

  it("a certificate of another name", () => {
    const { operator, grantsFile } = identities;
    const tls = { TLS_CERT_FILE: operator.certFile, TLS_KEY_FILE: operator.keyFile, TLS_CA_FILE: operator.caFile };
    const words = ["TLS_CERT_FILE: names", "/operator", `/${name}`];
    return expectRefusal(name, { ...tls, GRANTS_FILE: grantsFile }, words);
  });

  it("a certificate without its key", () =>
    expectRefusal(name, { TLS_CERT_FILE: identities.operator.certFile }, ["must be set together"]));

  it("a MongoDB that is down", () =>
    expectRefusal(name, { MONGODB_URL: databaseAway }, ["MONGODB_URL", "127.0.0.1:2", "ECONNREFUSED"]));
});

describe("a service ends with 78 within 4 s, loading aside, and says what is wrong with", () => {
  it("an address of another machine", () => expectRefusal("phrases", { HOST: "192.0.2.1" }, ["HOST", "192.0.2.1"]));

  it("a malformed MongoDB URL", () => expectRefusal("phrases", { MONGODB_URL: "x:hunter2@there" }, ["MONGODB_URL"]));

  it("a MongoDB that never answers", () =>
    expectRefusal("phrases", { MONGODB_URL: `mongodb://127.0.0.1:${silentPort}` }, [
      "MONGODB_URL",
      "no primary answered",
    ]));

  it("a MongoDB URL whose user does not exist", async () => {
    const url = settings.MONGODB_URL.replace("//", "//editor:hunter2@");
    await expectRefusal("phrases", { MONGODB_URL: url }, ["MONGODB_URL", "Authentication failed"]);
  });
});

describe.concurrent("a service tries for 5 s, then ends with 78, and says what is wrong with", () => {
  it.each(serviceNames)("a taken port of the mesh door: %s", (name) => expectTaken(name, "MESH_PORT"));

  it.each(serviceNames)("a taken port of the teams door: %s", (name) => expectTaken(name, "GRPC_PORT"));

  it("a taken ops port", () => expectTaken("phrases", "OPS_PORT"));

  it("a taken public port", () => expectTaken("gateway", "HTTP_PORT"));
});

describe.each(serviceNames)("%s that is told to stop while it starts", (name) => {
  it("ends within 2 s, although MongoDB does not answer", async () => {
    const asked = once(silent, "connection");
    const { child, ended } = startProcess(name, { ...settings, MONGODB_URL: `mongodb://127.0.0.1:${silentPort}` });
    await asked;
    const stoppedMs = performance.now();
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    expect(performance.now() - stoppedMs).toBeLessThan(2_000);
  });
});
