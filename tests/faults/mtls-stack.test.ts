/**
 * `npm start -- --mtls`: what an attacker on the machine gets, and a data folder that is used with
 * and without it.
 */
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { openDevStack } from "@vidimus/devstack/stack/dev-stack";
import { makeIdentities } from "@vidimus/devstack/stack/dev-identities";
import { freePorts } from "@vidimus/devstack/testing/free-ports";
import { createGrpcTransport } from "@vidimus/kit/rpc/client/grpc-transport";
import { MongoClient } from "mongodb";
import { connect } from "nats";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { vidimus } from "../support/vidimus.ts";
import { demonstrate } from "../../scripts/demo/demonstrate.ts";
import { callerAt, codeOfCall } from "../support/door-methods.ts";
import { article, openNewsroom } from "../support/newsroom.ts";

let dir: string;
let stateDir: string;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-mtls-"));
  stateDir = join(dir, ".vidimus");
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, ...inherited } = process.env;
  env = { ...inherited, LOG_LEVEL: "warn", IP_RATE_LIMIT: "off", ...(await freePorts()) };
});
afterAll(() => rm(dir, { recursive: true, force: true }));
// The demonstration prints each step.
beforeEach(() => void vi.spyOn(console, "log").mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

const open = (mtls: boolean) => openDevStack({ stateDir, env, mtls, console: true, report: () => {} });

/** Pushes the same document each time. */
async function push(dev: DevJson): Promise<number> {
  using demo = openNewsroom(dev);
  const body = JSON.stringify(article({ id: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10" }));
  return (await demo.request("/v1/documents", { method: "POST", headers, body })).status;
}
const headers = { "content-type": "application/json" };

const withoutUser = (url: string) => url.replace(/\/\/[^@]*@/, "//").replace(/&?authSource=\w+/, "");

/** Commands that an attacker tries on MongoDB. Returns the outcome of each. */
async function attackMongodb(url: string): Promise<string[]> {
  await using client = new MongoClient(withoutUser(url), { serverSelectionTimeoutMS: 10_000 });
  const databases = ["access", "documents", "phrases", "signing", "delivery"].map((name) => `vidimus_${name}`);
  const attempts = [
    ...databases.map((name) => [name, { find: "tenants" }] as const),
    ["vidimus_documents", { insert: "heads", documents: [{}] }],
    ["admin", { listDatabases: 1 }],
    ["admin", { createUser: "eve", pwd: "x", roles: ["root"] }],
    ["local", { find: "oplog.rs" }],
  ] as const;
  const run = ([name, command]: (typeof attempts)[number]) =>
    client
      .db(name)
      .command(command)
      .then(
        () => "ok",
        ({ codeName }: { codeName?: string }) => codeName ?? "failed",
      );
  return await Promise.all(attempts.map(run));
}

/** Whether a subscriber without a certificate of the platform gets in. */
async function attackNats(url: string, tls: object | undefined): Promise<string> {
  const servers = new URL(url).host;
  const connecting = connect({ servers, reconnect: false, timeout: 5_000, ...(tls && { tls }) });
  return connecting.then(
    async (connection) => {
      await connection.close();
      return "in";
    },
    () => "out",
  );
}

const listTenants = AccessService.methods.find(({ name }) => name === "ListTenants");

/** Calls each door in plaintext and without a certificate. Returns the doors that answered. */
async function attackDoors({ grpc, mesh, tls }: DevJson): Promise<string[]> {
  const open: string[] = [];
  for (const target of [...Object.values(grpc), ...Object.values(mesh)]) {
    using stranger = callerAt(target, tls!.caFile);
    const plain = createGrpcTransport({ target });
    const codes = await Promise.all([
      stranger.call(listTenants!, {}, "owner"),
      codeOfCall(plain, listTenants!, {}, "owner").finally(() => plain.close()),
    ]);
    if (codes.some((code) => !["Unavailable", "DeadlineExceeded"].includes(code)))
      open.push(`${target}: ${codes.join()}`);
  }
  return open;
}

/** Signs in by the link that `npm start` prints, as a browser does. Returns the first page. */
async function signInToConsole(dev: DevJson): Promise<string> {
  const link = new URL((await makeConsoleLink(dev))!);
  const body = new URLSearchParams(link.hash.slice(1));
  const form = { method: "POST", body, redirect: "manual", headers: { origin: link.origin } } as const;
  const signedIn = await fetch(`${link.origin}/sign-in/confirm`, form);
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  return await (await fetch(link.origin, { headers: { cookie } })).text();
}

/** Files of a folder that others than their owner may read or write, by path. */
async function openFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const modes = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const found = await stat(path).catch(() => undefined);
      return found && (found.mode & 0o077) !== 0 ? [path.slice(folder.length + 1)] : [];
    });
  return (await Promise.all(modes)).flat();
}

async function doctor(): Promise<{ code: number; findings: { check: string; status: string; finding: string }[] }> {
  const { code, stdout } = await vidimus(["doctor", "--json"], { cwd: dir, sleep: () => Promise.resolve() });
  return { code, ...(JSON.parse(stdout) as { findings: [] }) };
}

/**
 * Whether a finding is not ok. A warning about mongod counts as ok, because mongod's patch level
 * depends on this machine.
 */
function needsAttention({ check, status }: { check: string; status: string }): boolean {
  return status !== "ok" && !(check === "mongodb" && status === "warning");
}

describe("a data folder that was made without --mtls", { timeout: 240_000 }, () => {
  it("lets callers without credentials into its MongoDB and its broker", async () => {
    await using stack = await open(false);
    expect(await push(stack.dev)).toBe(201);
    expect((await attackMongodb(stack.dev.mongodb)).slice(0, 5)).toEqual(Array(5).fill("ok"));
    expect(await attackNats(stack.dev.nats, undefined)).toBe("in");
  });

  describe("and is started with it", () => {
    const opened = new AsyncDisposableStack();
    let dev: DevJson;
    beforeAll(async () => void ({ dev } = opened.use(await open(true))));
    afterAll(() => opened.disposeAsync());

    it("keeps the document that was pushed before", async () => {
      expect(await push(dev)).toBe(409);
    });

    it("serves its owner: the demonstration runs, doctor finds no fault, and sign-in to the console works", async () => {
      await demonstrate(dev);
      const { code, findings } = await doctor();
      expect([code, findings.filter(needsAttention)]).toEqual([0, []]);
      expect(await signInToConsole(dev)).toContain("Demo newsroom");
    });

    it("refuses strangers at every door, at MongoDB and at the broker", async () => {
      expect(await attackDoors(dev)).toEqual([]);
      expect(new Set(await attackMongodb(dev.mongodb))).toEqual(new Set(["Unauthorized"]));
      const stranger = (await makeIdentities(join(dir, "elsewhere"))).services.documents;
      const { caFile } = dev.tls!;
      for (const tls of [undefined, { caFile }, { ...stranger, caFile }])
        expect(await attackNats(dev.nats, tls)).toBe("out");
    });

    it("keeps keys, dev.json and the data of mongod and the broker to its owner", async () => {
      for (const name of ["tls", "data/mongod", "data/nats"])
        expect((await stat(join(stateDir, name))).mode & 0o777).toBe(0o700);
      for (const name of ["dev.json", "kek", "delivery-kek", "attestation-key"])
        expect((await stat(join(stateDir, name))).mode & 0o777).toBe(0o600);
      const readable = (await openFiles(join(stateDir, "tls"))).filter((name) => !/^[a-z]+\.pem$/.test(name));
      expect(readable.toSorted()).toEqual(["grants.json", "nats.conf"]);
    });

    it("serves its owner after mongod and the broker were killed, and both still refuse strangers", async () => {
      for (const name of ["mongod", "nats"]) process.kill(dev.pids[name]!, "SIGKILL");
      await vi.waitFor(
        async () => {
          const { pids } = (await readDevJson(stateDir))!;
          for (const name of ["mongod", "nats"]) expect([undefined, dev.pids[name]]).not.toContain(pids[name]);
          expect(await push(dev)).toBe(409);
        },
        { timeout: 60_000, interval: 200 },
      );
      expect(new Set(await attackMongodb(dev.mongodb))).toEqual(new Set(["Unauthorized"]));
      expect(await attackNats(dev.nats, { caFile: dev.tls!.caFile })).toBe("out");
      await demonstrate(dev);
    });
  });

  it("starts again without --mtls, as open as before", async () => {
    await using stack = await open(false);
    expect(await push(stack.dev)).toBe(409);
    expect((await attackMongodb(stack.dev.mongodb)).slice(0, 5)).toEqual(Array(5).fill("ok"));
    expect(await attackNats(stack.dev.nats, undefined)).toBe("in");
    expect(stack.dev.tls).toBeUndefined();
  });
});
