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
import { describe, expect, it, vi } from "vitest";
import { patient } from "../src/testing/patient.ts";
import { EnvReader } from "@vidimus/kit/env";
import { readBroker } from "@vidimus/kit/nats/broker-settings";
import { type EventBus, openEventBus } from "@vidimus/kit/nats/event-bus";
import { portOf } from "@vidimus/kit/port";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { makeJwtBroker } from "./support/nats-jwt.ts";

/** Picks a port and makes a folder, for a broker, its buses and their files. */
async function openSetup() {
  const port = await pickFreePort();
  const dir = await mkdtemp(join(tmpdir(), "broker-credentials-"));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));

  /** Writes a file in the folder. Returns its path. */
  async function put(name: string, content: string | Uint8Array, mode = 0o600): Promise<string> {
    const path = join(dir, name);
    await rm(path, { force: true });
    await writeFile(path, content, { mode });
    return path;
  }

  async function startServer(config: string): Promise<BackingServer> {
    const file = await put("nats.conf", config);
    const server = await launch({
      name: "nats-server",
      binary: await findBinary("nats-server"),
      args: (free) => ["--addr", "127.0.0.1", "--port", String(free), "--config", file],
      port,
      logFile: join(dir, "nats.log"),
      ready: waitForListener,
      url: (free) => `127.0.0.1:${free}`,
    });
    return stack.use(server);
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
  return { stack, dir, port, put, startServer, openBus, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
type Setup = Awaited<ReturnType<typeof openSetup>>;

const isUp = (bus: EventBus) => vi.waitFor(() => bus.ping(), patient);
const logged = ({ lines }: { lines: string[] }, words: RegExp) =>
  vi.waitFor(() => expect(lines.join("\n")).toMatch(words), patient);

const seedOf = (user: ReturnType<typeof nkeys.createUser>) => `${Buffer.from(user.getSeed()).toString()}\n`;
const knowing = (user: ReturnType<typeof nkeys.createUser>) =>
  `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`;

// The tests of these three groups run at the same time, because most of their time is waiting.
describe.concurrent("NATS_CREDS", () => {
  it("connects to a broker that knows users by their JWTs", async () => {
    await using setup = await openSetup();
    const jwts = makeJwtBroker();
    await setup.startServer(jwts.config);
    await expect(connect({ servers: `127.0.0.1:${setup.port}` })).rejects.toThrow(/authorization/i);
    await isUp(setup.openBus({ NATS_CREDS: await setup.put("user.creds", jwts.makeCreds()) }).bus);
  });

  it("of another operator is refused by the broker", async () => {
    await using setup = await openSetup();
    await setup.startServer(makeJwtBroker().config);
    const stranger = setup.openBus({ NATS_CREDS: await setup.put("user.creds", makeJwtBroker().makeCreds()) });
    await logged(stranger, /authorization violation/i);
  });
});

describe.concurrent("NATS_NKEY_SEED", () => {
  const [first, second] = [nkeys.createUser(), nkeys.createUser()];

  /** Opens a bus at a server that knows the first seed. */
  async function openWithFirst(setup: Setup) {
    const server = await setup.startServer(knowing(first));
    const opened = setup.openBus({ NATS_NKEY_SEED: await setup.put("seed", seedOf(first)) });
    await isUp(opened.bus);
    return { server, opened };
  }

  it("stays in use while its file is broken", async () => {
    await using setup = await openSetup();
    const { server, opened } = await openWithFirst(setup);
    await setup.put("seed", "half of a se");
    await logged(opened, /does not hold the seed.*the last good ones stay/);
    await server[Symbol.asyncDispose]();
    await setup.startServer(knowing(first));
    await isUp(opened.bus);
  });

  /** Replaces the seed of an open bus, and its server by one that knows only the second seed. */
  async function replaceFirst(setup: Setup) {
    const { server, opened } = await openWithFirst(setup);
    await setup.put("seed", seedOf(second));
    await server[Symbol.asyncDispose]();
    await setup.startServer(knowing(second));
    await isUp(opened.bus);
    return opened;
  }

  it("is replaced while a bus is open", async () => {
    await using setup = await openSetup();
    await replaceFirst(setup);
  });

  it("appears in no log line when it is replaced", async () => {
    await using setup = await openSetup();
    const { lines } = await replaceFirst(setup);
    expect(lines.join("\n")).not.toMatch(/SU[A-Z2-7]{20}/);
  });
});

describe.concurrent("with TLS in the settings,", () => {
  const authority = createAuthority();
  const uris = ["spiffe://test.example/nats"];
  const hosts = ["localhost", "127.0.0.1"];

  async function startTls(setup: Setup, verify: boolean): Promise<BackingServer> {
    const { cert, key } = authority.issue({ uris, hosts });
    const files = { cert_file: await setup.put("server.pem", cert), key_file: await setup.put("server-key.pem", key) };
    const ca = { ca_file: await setup.put("ca.pem", authority.pair.cert), verify };
    const users = `authorization { user: ida, password: pw }`;
    return setup.startServer(`tls ${JSON.stringify({ ...files, ...(verify && ca) })}\n${users}`);
  }

  it("a bus trusts only a server whose certificate the authority of NATS_CA issued", async () => {
    await using setup = await openSetup();
    await startTls(setup, false);
    const NATS_URL = `tls://ida:pw@127.0.0.1:${setup.port}`;
    await isUp(setup.openBus({ NATS_URL, NATS_CA: await setup.put("ca.pem", authority.pair.cert) }).bus);
    const other = setup.openBus({ NATS_URL, NATS_CA: await setup.put("other.pem", createAuthority().pair.cert) });
    await logged(other, /certificate.*broker cannot be reached/s);
    // Without NATS_CA only Node's own authorities are trusted.
    await logged(setup.openBus({ NATS_URL }), /certificate.*broker cannot be reached/s);
  });

  it("a broker that demands a client certificate accepts the one of NATS_CERT", async () => {
    await using setup = await openSetup();
    await startTls(setup, true);
    const NATS_CA = join(setup.dir, "ca.pem");
    const NATS_URL = `tls://ida:pw@127.0.0.1:${setup.port}`;
    await logged(setup.openBus({ NATS_URL, NATS_CA }), /broker cannot be reached/);
    const { cert, key } = authority.issue({ uris: ["spiffe://test.example/documents"] });
    const own = { NATS_CERT: await setup.put("own.pem", cert), NATS_KEY: await setup.put("own-key.pem", key) };
    await isUp(setup.openBus({ NATS_URL, NATS_CA, ...own }).bus);
  });

  it.each(["NATS_CERT", "NATS_CA"])(
    "while the file of %s ends within a certificate, its last good content is used and the fault logged",
    async (half) => {
      await using setup = await openSetup();
      const server = await startTls(setup, true);
      const { cert, key } = authority.issue({ uris: ["spiffe://test.example/documents"] });
      const contents: Record<string, string> = { NATS_CERT: cert, NATS_KEY: key, NATS_CA: authority.pair.cert };
      const files: Record<string, string> = {};
      for (const [name, content] of Object.entries(contents)) files[name] = await setup.put(name, content);
      const opened = setup.openBus({ NATS_URL: `tls://ida:pw@127.0.0.1:${setup.port}`, ...files });
      await isUp(opened.bus);

      writeFileSync(files[half]!, contents[half]!.slice(0, 200));
      await logged(opened, new RegExp(`${half}: .* ends within a certificate.*the last good ones stay`));
      expect(await opened.failures()).toEqual([1]);
      await server[Symbol.asyncDispose]();
      const again = await startTls(setup, true);
      await isUp(opened.bus);

      writeFileSync(files[half]!, contents[half] + createAuthority().pair.cert);
      await logged(opened, /files reloaded/);
      await again[Symbol.asyncDispose]();
      await startTls(setup, true);
      await isUp(opened.bus);
    },
  );
});

// Not at the same time as the tests above, because it counts the uncaught errors of the process and
// keeps its threads busy.
describe("with TLS in the settings,", () => {
  const { cert } = createAuthority().pair;

  it("a server that resets the connection after its greeting does not end the process", async () => {
    await using setup = await openSetup();
    const uncaught: unknown[] = [];
    const note = (error: unknown) => void uncaught.push(error);
    process.on("uncaughtException", note);
    setup.stack.defer(() => void process.off("uncaughtException", note));
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
    setup.stack.use(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const NATS_URL = `tls://127.0.0.1:${portOf(server.address())}`;
    await logged(setup.openBus({ NATS_URL, NATS_CA: await setup.put("ca.pem", cert) }), /broker cannot be reached/);
    await vi.waitFor(() => expect(resets).toBeGreaterThan(1), patient);
    expect(uncaught).toEqual([]);
  });

  it.each([
    ["tls://ida:hunter2@", "without NATS_CA"],
    ["nats://ida:hunter2@", "with NATS_CA"],
  ])("a server without TLS does not get the password of %s, %s", async (prefix, ca) => {
    await using setup = await openSetup();
    let said = "";
    const plain = setup.stack.use(
      createServer((socket) => {
        socket.on("data", (data) => (said += data.toString())).on("error", () => {});
        socket.write(
          `INFO {"server_id":"x","version":"2.15.0","max_payload":1048576,"proto":1,"auth_required":true}\r\n`,
        );
      }),
    );
    await once(plain.listen(0, "127.0.0.1"), "listening");
    const address = `127.0.0.1:${portOf(plain.address())}`;
    const NATS_CA = await setup.put("ca.pem", cert);
    const settings = ca === "with NATS_CA" ? { NATS_CA } : {};
    await logged(setup.openBus({ NATS_URL: `${prefix}${address}`, ...settings }), /broker cannot be reached/);
    expect(said).toBe("");
  });
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
    [
      "credentials in NATS_URL and in NATS_CREDS",
      { NATS_URL: "nats://ida:hunter2@a:1", NATS_CREDS: "creds" },
      /NATS_URL and NATS_CREDS have credentials each/,
    ],
    [
      "NATS_CREDS and NATS_NKEY_SEED together",
      { NATS_CREDS: "creds", NATS_NKEY_SEED: "seed" },
      /NATS_CREDS and NATS_NKEY_SEED have credentials each/,
    ],
    [
      "NATS_CREDS with a file that does not exist",
      { NATS_CREDS: "gone" },
      /NATS_CREDS: .*gone cannot be read \(ENOENT\)/,
    ],
    [
      "NATS_CREDS with a file that holds only a seed",
      { NATS_CREDS: "seed" },
      /NATS_CREDS: .*does not hold the JWT and the seed/,
    ],
    [
      "NATS_NKEY_SEED with a file that others may read",
      { NATS_NKEY_SEED: "open-seed" },
      /NATS_NKEY_SEED: .*has mode 0644/,
    ],
    [
      "NATS_NKEY_SEED with the seed of an account",
      { NATS_NKEY_SEED: "account-seed" },
      /NATS_NKEY_SEED: .*does not hold the seed of a user/,
    ],
    [
      "NATS_NKEY_SEED with an empty file",
      { NATS_NKEY_SEED: "empty" },
      /NATS_NKEY_SEED: .*does not hold the seed of a user/,
    ],
    ["NATS_CA with an empty file", { NATS_CA: "empty" }, /NATS_CA: .*holds no PEM certificate/],
    ["NATS_CERT without NATS_KEY", { NATS_CERT: "cert" }, /NATS_CERT and NATS_KEY must be set together/],
    [
      "NATS_KEY with a file that others may read",
      { NATS_CERT: "cert", NATS_KEY: "open-key" },
      /NATS_KEY: .*has mode 0644/,
    ],
    [
      "NATS_KEY with the key of another certificate",
      { NATS_CERT: "cert", NATS_KEY: "other-key" },
      /NATS_KEY: .*is not the key of/,
    ],
    [
      "NATS_KEY with a file that holds no private key",
      { NATS_CERT: "cert", NATS_KEY: "seed" },
      /NATS_KEY: .*holds no PEM private key/,
    ],
    [
      "NATS_CREDS, NATS_CA and NATS_CERT without their files, and the error names all three",
      { NATS_CREDS: "gone", NATS_CA: "gone", NATS_CERT: "gone", NATS_KEY: "key" },
      /NATS_CREDS.*\nNATS_CA.*\nNATS_CERT/,
    ],
  ] as readonly [string, Record<string, string>, RegExp][])("%s", async (_, settings, message) => {
    await using setup = await openSetup();
    for (const [name, [content, mode]] of Object.entries(files)) await setup.put(name, content, mode);
    const entries = Object.entries(settings).map(([name, value]) => [
      name,
      name === "NATS_URL" ? value : join(setup.dir, value),
    ]);
    const fault = await Promise.resolve()
      .then(() => setup.openBus(Object.fromEntries(entries) as Record<string, string>))
      .then(
        () => "",
        (error: Error) => error.message,
      );
    expect(fault).toMatch(message);
    expect(fault).not.toMatch(/hunter2|SU[A-Z2-7]{20}/);
  });

  it("NATS_NKEY_SEED with a seed instead of a file's name, and the error does not quote the seed", async () => {
    await using setup = await openSetup();
    const seed = seedOf(nkeys.createUser()).trim();
    const open = () => setup.openBus({ NATS_NKEY_SEED: seed });
    expect(open).toThrow("NATS_NKEY_SEED names the file that holds the seed");
    expect(open).not.toThrow(seed);
  });
});
