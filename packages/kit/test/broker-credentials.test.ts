import { findBinary } from "@vidimus/devstack/backing/find-binary";
import { type BackingServer, launch, waitForListener } from "@vidimus/devstack/backing/server";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { connect, nkeys } from "nats";
import { pbkdf2 } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { patient } from "../src/testing/patient.ts";
import { EnvReader } from "@vidimus/kit/env";
import { readBroker } from "@vidimus/kit/nats/broker-settings";
import { type EventBus, openEventBus } from "@vidimus/kit/nats/event-bus";
import { portOf } from "@vidimus/kit/port";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { makeJwtBroker } from "./support/nats-jwt.ts";

let stack: AsyncDisposableStack;
let dir: string;
let port: number;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  dir = await mkdtemp(join(tmpdir(), "broker-credentials-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  port = await pickFreePort();
});
afterEach(() => stack.disposeAsync());

/** Writes a file in the test's folder. Returns its path. */
async function put(name: string, content: string | Uint8Array, mode = 0o600): Promise<string> {
  const path = join(dir, name);
  await rm(path, { force: true });
  await writeFile(path, content, { mode });
  return path;
}

async function startServer(config: string): Promise<BackingServer> {
  const file = await put("nats.conf", config);
  return launch({
    name: "nats-server",
    binary: await findBinary("nats-server"),
    args: (free) => ["--addr", "127.0.0.1", "--port", String(free), "--config", file],
    port,
    logFile: join(dir, "nats.log"),
    ready: waitForListener,
    url: (free) => `127.0.0.1:${free}`,
  });
}

/** Opens a bus with settings as a service reads them. */
function openBus(settings: Readonly<Record<string, string>>) {
  const env = new EnvReader({ NATS_URL: `127.0.0.1:${port}`, ...settings });
  const broker = readBroker(env);
  env.finish();
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const registry = new Registry();
  const bus = stack.use(openEventBus({ ...broker, name: "credentials", log, registry }));
  const failures = async () =>
    (await registry.getSingleMetric("vidimus_reload_failures_total")?.get())?.values.map(({ value }) => value);
  return { bus, lines, failures };
}

const isUp = (bus: EventBus) => vi.waitFor(() => bus.ping(), patient);
const logged = ({ lines }: { lines: string[] }, words: RegExp) =>
  vi.waitFor(() => expect(lines.join("\n")).toMatch(words), patient);

const seedOf = (user: ReturnType<typeof nkeys.createUser>) => `${Buffer.from(user.getSeed()).toString()}\n`;
const knowing = (user: ReturnType<typeof nkeys.createUser>) =>
  `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`;

describe("NATS_CREDS", () => {
  it("opens a broker that knows users by their JWTs", async () => {
    const jwts = makeJwtBroker();
    stack.use(await startServer(jwts.config));
    await expect(connect({ servers: `127.0.0.1:${port}` })).rejects.toThrow(/authorization/i);
    await isUp(openBus({ NATS_CREDS: await put("user.creds", jwts.makeCreds()) }).bus);
  });

  it("of another operator is refused by the broker", async () => {
    stack.use(await startServer(makeJwtBroker().config));
    const stranger = openBus({ NATS_CREDS: await put("user.creds", makeJwtBroker().makeCreds()) });
    await logged(stranger, /authorization violation/i);
  });
});

describe("NATS_NKEY_SEED", () => {
  it("is replaced while a bus is open, stays while its file is broken, and is not logged", async () => {
    const [first, second] = [nkeys.createUser(), nkeys.createUser()];
    let server = await startServer(knowing(first));
    const opened = openBus({ NATS_NKEY_SEED: await put("seed", seedOf(first)) });
    const { bus, lines } = opened;
    await isUp(bus);

    await put("seed", "half of a se");
    await logged(opened, /does not hold the seed.*the last good ones stay/);
    await server[Symbol.asyncDispose]();
    server = await startServer(knowing(first));
    await isUp(bus);

    await put("seed", seedOf(second));
    await server[Symbol.asyncDispose]();
    stack.use(await startServer(knowing(second)));
    await isUp(bus);
    expect(lines.join("\n")).not.toMatch(/SU[A-Z2-7]{20}/);
  });
});

describe("NATS_CA, NATS_CERT and NATS_KEY", () => {
  const authority = createAuthority();
  const uris = ["spiffe://test.example/nats"];
  const hosts = ["localhost", "127.0.0.1"];

  async function startTls(verify: boolean): Promise<BackingServer> {
    const { cert, key } = authority.issue({ uris, hosts });
    const files = { cert_file: await put("server.pem", cert), key_file: await put("server-key.pem", key) };
    const ca = { ca_file: await put("ca.pem", authority.pair.cert), verify };
    const users = `authorization { user: ida, password: pw }`;
    return stack.use(await startServer(`tls ${JSON.stringify({ ...files, ...(verify && ca) })}\n${users}`));
  }

  it("with NATS_CA alone a bus trusts only a server whose certificate the authority of NATS_CA issued", async () => {
    await startTls(false);
    const NATS_URL = `tls://ida:pw@127.0.0.1:${port}`;
    await isUp(openBus({ NATS_URL, NATS_CA: await put("ca.pem", authority.pair.cert) }).bus);
    const other = openBus({ NATS_URL, NATS_CA: await put("other.pem", createAuthority().pair.cert) });
    await logged(other, /certificate.*broker cannot be reached/s);
    // Without NATS_CA only Node's own authorities are trusted.
    await logged(openBus({ NATS_URL }), /certificate.*broker cannot be reached/s);
  });

  it("a broker that demands a client certificate accepts the one of NATS_CERT", async () => {
    await startTls(true);
    const NATS_CA = join(dir, "ca.pem");
    const NATS_URL = `tls://ida:pw@127.0.0.1:${port}`;
    await logged(openBus({ NATS_URL, NATS_CA }), /broker cannot be reached/);
    const { cert, key } = authority.issue({ uris: ["spiffe://test.example/documents"] });
    const own = { NATS_CERT: await put("own.pem", cert), NATS_KEY: await put("own-key.pem", key) };
    await isUp(openBus({ NATS_URL, NATS_CA, ...own }).bus);
  });

  it.each(["NATS_CERT", "NATS_CA"])(
    "a %s that ends within a certificate is counted and logged, and the last good one is used",
    async (half) => {
      const server = await startTls(true);
      const { cert, key } = authority.issue({ uris: ["spiffe://test.example/documents"] });
      const contents: Record<string, string> = { NATS_CERT: cert, NATS_KEY: key, NATS_CA: authority.pair.cert };
      const files: Record<string, string> = {};
      for (const [name, content] of Object.entries(contents)) files[name] = await put(name, content);
      const opened = openBus({ NATS_URL: `tls://ida:pw@127.0.0.1:${port}`, ...files });
      await isUp(opened.bus);

      writeFileSync(files[half]!, contents[half]!.slice(0, 200));
      await logged(opened, new RegExp(`${half}: .* ends within a certificate.*the last good ones stay`));
      expect(await opened.failures()).toEqual([1]);
      await server[Symbol.asyncDispose]();
      const again = await startTls(true);
      await isUp(opened.bus);

      writeFileSync(files[half]!, contents[half] + createAuthority().pair.cert);
      await logged(opened, /files reloaded/);
      await again[Symbol.asyncDispose]();
      await startTls(true);
      await isUp(opened.bus);
    },
  );

  it("a server that resets the connection after its greeting does not end the process", async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => void uncaught.push(error);
    process.on("uncaughtException", note);
    stack.defer(() => void process.off("uncaughtException", note));
    let resets = 0;
    const server = createServer((socket) => {
      // The calls of pbkdf2 keep the threads busy in which Node reads files, so that a file would
      // be read only after the reset.
      for (let each = 0; each < 8; each += 1) pbkdf2("", "", 30_000, 64, "sha512", () => {});
      socket.on("error", () => {});
      socket.write(`INFO {"server_id":"x","version":"2.15.0","max_payload":1048576,"proto":1,"tls_required":true}\r\n`);
      setTimeout(() => {
        socket.resetAndDestroy();
        resets += 1;
      }, 30);
    });
    stack.use(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const NATS_URL = `tls://127.0.0.1:${portOf(server.address())}`;
    await logged(openBus({ NATS_URL, NATS_CA: await put("ca.pem", authority.pair.cert) }), /broker cannot be reached/);
    await vi.waitFor(() => expect(resets).toBeGreaterThan(1), patient);
    expect(uncaught).toEqual([]);
  });

  it.each(["tls://ida:hunter2@", "nats://ida:hunter2@"])(
    "a server without TLS does not get the password: %s",
    async (prefix) => {
      let said = "";
      const plain = stack.use(
        createServer((socket) => {
          socket.on("data", (data) => (said += data.toString())).on("error", () => {});
          socket.write(
            `INFO {"server_id":"x","version":"2.15.0","max_payload":1048576,"proto":1,"auth_required":true}\r\n`,
          );
        }),
      );
      await once(plain.listen(0, "127.0.0.1"), "listening");
      const address = `127.0.0.1:${portOf(plain.address())}`;
      const NATS_CA = await put("ca.pem", authority.pair.cert);
      const settings = prefix.startsWith("tls") ? {} : { NATS_CA };
      await logged(openBus({ NATS_URL: `${prefix}${address}`, ...settings }), /broker cannot be reached/);
      expect(said).toBe("");
    },
  );
});

describe("a setting of the broker that cannot be used stops the start", () => {
  const pair = createAuthority().issue({ uris: ["spiffe://test.example/documents"] });
  const other = createAuthority().issue({ uris: ["spiffe://test.example/documents"] });
  const files: Record<string, [content: string, mode: number]> = {
    seed: [seedOf(nkeys.createUser()), 0o600],
    "open-seed": [seedOf(nkeys.createUser()), 0o644],
    "account-seed": [seedOf(nkeys.createAccount()), 0o600],
    creds: [makeJwtBroker().makeCreds(), 0o600],
    empty: ["", 0o600],
    cert: [pair.cert, 0o644],
    key: [pair.key, 0o600],
    "open-key": [pair.key, 0o644],
    "other-key": [other.key, 0o600],
  };

  it.each([
    [{ NATS_URL: "nats://ida:hunter2@a:1", NATS_CREDS: "creds" }, /NATS_URL and NATS_CREDS have credentials each/],
    [{ NATS_CREDS: "creds", NATS_NKEY_SEED: "seed" }, /NATS_CREDS and NATS_NKEY_SEED have credentials each/],
    [{ NATS_CREDS: "gone" }, /NATS_CREDS: .*gone cannot be read \(ENOENT\)/],
    [{ NATS_CREDS: "seed" }, /NATS_CREDS: .*does not hold the JWT and the seed/],
    [{ NATS_NKEY_SEED: "open-seed" }, /NATS_NKEY_SEED: .*has mode 0644/],
    [{ NATS_NKEY_SEED: "account-seed" }, /NATS_NKEY_SEED: .*does not hold the seed of a user/],
    [{ NATS_NKEY_SEED: "empty" }, /NATS_NKEY_SEED: .*does not hold the seed of a user/],
    [{ NATS_CA: "empty" }, /NATS_CA: .*holds no PEM certificate/],
    [{ NATS_CERT: "cert" }, /NATS_CERT and NATS_KEY must be set together/],
    [{ NATS_CERT: "cert", NATS_KEY: "open-key" }, /NATS_KEY: .*has mode 0644/],
    [{ NATS_CERT: "cert", NATS_KEY: "other-key" }, /NATS_KEY: .*is not the key of/],
    [{ NATS_CERT: "cert", NATS_KEY: "cert" }, /NATS_KEY: .*(holds no PEM private key|has mode)/],
    [{ NATS_CREDS: "gone", NATS_CA: "gone", NATS_CERT: "gone", NATS_KEY: "key" }, /NATS_CREDS.*\nNATS_CA.*\nNATS_CERT/],
  ] as readonly [Record<string, string>, RegExp][])("%j", async (settings, message) => {
    for (const [name, [content, mode]] of Object.entries(files)) await put(name, content, mode);
    const entries = Object.entries(settings).map(([name, value]) => [
      name,
      name === "NATS_URL" ? value : join(dir, value),
    ]);
    const fault = await Promise.resolve()
      .then(() => openBus(Object.fromEntries(entries) as Record<string, string>))
      .then(
        () => "",
        (error: Error) => error.message,
      );
    expect(fault).toMatch(message);
    expect(fault).not.toMatch(/hunter2|SU[A-Z2-7]{20}/);
  });

  it("a seed instead of its file's name is refused, and not quoted", () => {
    const seed = seedOf(nkeys.createUser()).trim();
    const open = () => openBus({ NATS_NKEY_SEED: seed });
    expect(open).toThrow("NATS_NKEY_SEED names the file that holds the seed");
    expect(open).not.toThrow(seed);
  });
});
