import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { Agent as TlsAgent } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { Registry } from "prom-client";
import { aroundEach, describe, expect, it, vi } from "vitest";
import { patient } from "../../testing/patient.ts";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { openLiveCertificate } from "../../tls/live-certificate.ts";
import { type CertificateSource, serviceCredentials } from "../../tls/service-credentials.ts";
import { certificateOf, domain, TestCertificate } from "../../tls/testing/certificates.ts";
import { createGrpcTransport } from "../client/grpc-transport.ts";
import { startMeshServer } from "./mesh/mesh-server.ts";
import { meshRoute, type RpcRoute, teamsRoute } from "./shared/route.ts";
import { startTeamsServer } from "./teams/teams-server.ts";
import { cleanUp, type Door, failure, knowTest, opened, phrase } from "../testing/doors.ts";
import { type Phrases, serve, untilCancelled } from "../testing/doors.ts";
import { logLines } from "../testing/log-lines.ts";

aroundEach(knowTest);

const authority = createAuthority();
const next = createAuthority("the next CA");
const both = authority.pair.cert + next.pair.cert;
const gateway = `spiffe://${domain}/gateway`;
const demo = { tenantId: "demo" };
const grants = () => {
  const services = new Set([PhraseService.typeName]);
  const none = new Set<string>();
  const grant = { identity: gateway, tenants: new Set(["*"]), services, methods: none, roles: none, people: false };
  return new Map([[gateway, grant]]);
};
/** `deletePhrase` ends only when its call is cancelled. */
const implementation: Phrases = {
  upsertPhrase: () => phrase(1),
  deletePhrase: (_, context) => untilCancelled(context),
};
const onlyRows = (route: RpcRoute) => ({ ...route, methods: ["upsertPhrase", "deletePhrase"] as const });
const effects = { upsertPhrase: "write", deletePhrase: "write" } as const;
const callers = { upsertPhrase: ["gateway"], deletePhrase: ["gateway"] };

function doorsWith(certificate: CertificateSource): readonly Door[] {
  const mesh: Door["start"] = ({ routes, ...options }) =>
    startMeshServer({ ...options, certificate, routes: routes.map((each) => meshRoute(onlyRows(each), callers)) });
  const teams: Door["start"] = ({ routes, ...options }) =>
    startTeamsServer({
      ...options,
      certificate,
      grants,
      routes: routes.map((each) => teamsRoute(onlyRows(each), effects)),
    });
  return [
    { name: "mesh", start: mesh },
    { name: "teams", start: teams },
  ];
}

const serveAll = (certificate: CertificateSource, phrases = implementation) =>
  Promise.all(doorsWith(certificate).map((door) => serve(door, phrases)));

function clientAt(port: number, caller: CertificateSource) {
  const credentials = serviceCredentials(caller, "phrases");
  const transport = opened(createGrpcTransport({ target: `dns:///localhost:${port}`, credentials }));
  return createClient(PhraseService, transport);
}

/** A certificate of the gateway that the given authority issued. */
const asGateway = (issuer = authority, ca = both) => new TestCertificate(issuer.issue({ uris: [gateway] }), ca);
/** Codes with which a call ends when the client or the server refuses the handshake. */
const away = [Code.Unavailable, Code.DeadlineExceeded];
const samePair = ({ value }: TestCertificate) => ({ cert: value.cert.toString(), key: value.key.toString() });

/** Makes a call that gets no answer. `ended` resolves with the time at which the call fails. */
const waitAt = async (port: number, caller: CertificateSource) => {
  const client = clientAt(port, caller);
  await client.upsertPhrase(demo);
  const call = failure(client.deletePhrase(demo, { timeoutMs: 60_000 }));
  return { client, ended: call.then(() => performance.now()) };
};

/** The serial number of the certificate that the server shows to a new connection. */
async function serialOf(port: number, { value }: TestCertificate): Promise<string> {
  const { cert, key } = value;
  const options = { host: "127.0.0.1", port, cert, key, ca: both, checkServerIdentity: () => undefined };
  const socket: TLSSocket = connectTls({ ...options, ALPNProtocols: ["h2"] });
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** Follows the files of a certificate of phrases. Returns it with its log lines and metrics. */
function openFiles(issuer: typeof authority, ca: string, everyMs?: number) {
  const dir = mkdtempSync(join(tmpdir(), "replaced-certificates-"));
  cleanUp(() => rmSync(dir, { recursive: true }));
  const write = (name: "cert" | "key" | "ca", text: string) => writeFileSync(join(dir, name), text, { mode: 0o600 });
  const { cert, key } = issuer.issue({ uris: [`spiffe://${domain}/phrases`] });
  write("cert", cert);
  write("key", key);
  write("ca", ca);
  const files = { certFile: join(dir, "cert"), keyFile: join(dir, "key"), caFile: join(dir, "ca") };
  const registry = new Registry();
  const { log, lines } = logLines("info");
  const live = openLiveCertificate({ files, service: "phrases", log, registry, ...(everyMs && { everyMs }) });
  cleanUp(() => live[Symbol.dispose]());
  return { live, cert, write, registry, lines };
}

describe("files that are being written", () => {
  it.each(["cert", "ca"] as const)(
    "change nothing while the file `%s` ends within its second certificate",
    async (half) => {
      const { live, cert, write, registry, lines } = openFiles(authority, authority.pair.cert, 20);
      const served = await serveAll(live);
      const before = live.value;
      const whole = half === "cert" ? cert + next.pair.cert : both;
      for (const end of [100, 300, 20]) {
        write(half, whole.slice(0, whole.lastIndexOf("-----BEGIN") + end));
        live.reload();
        expect(live.value).toBe(before);
      }
      const failures = await registry.getSingleMetric("vidimus_reload_failures_total")?.get();
      expect(failures?.values.map(({ value }) => value)).toEqual([1]);
      expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
      const caller = certificateOf(authority, "gateway");
      for (const { port } of served) await clientAt(port, caller).upsertPhrase(demo);
      write(half, whole);
      live.reload();
      expect(live.value).not.toBe(before);
    },
  );

  it("are refused, with the setting named, when they end within a certificate", () => {
    const { cert, key } = authority.issue({ uris: [gateway] });
    const half = next.pair.cert.slice(0, 200);
    expect(() => new TestCertificate({ cert: cert + half, key }, both)).toThrow("TLS_CERT_FILE: ends within a");
    expect(() => new TestCertificate({ cert, key }, authority.pair.cert + half)).toThrow("TLS_CA_FILE: ends within a");
  });
});

describe("when a certificate authority is removed", () => {
  const endsWithinMs = 5_000;
  const phrasesOf = (issuer: typeof authority) =>
    new TestCertificate(issuer.issue({ uris: [`spiffe://${domain}/phrases`] }), both);

  // The next three tests run at the same time, because they wait for the ends of connections.
  it.concurrent("connections with its client certificates, idle or busy, end within 5 s, and no others do", async () => {
    const server = phrasesOf(next);
    const served = await serveAll(server);
    const [revoked, kept] = [asGateway(authority), asGateway(next)];
    const ends = [];
    const others = [];
    for (const { port } of served) {
      const { cert, key } = revoked.value;
      const idle = connectHttp2(`https://localhost:${port}`, {
        cert,
        key,
        ca: both,
        checkServerIdentity: () => undefined,
      });
      await once(idle, "connect");
      ends.push(Promise.all([once(idle, "goaway"), once(idle, "close")]).then(() => performance.now()));
      ends.push((await waitAt(port, revoked)).ended);
      others.push(await waitAt(port, kept));
    }
    const removed = performance.now();
    server.replace(samePair(server), next.pair.cert);
    for (const ended of ends) expect((await ended) - removed).toBeLessThan(endsWithinMs);
    for (const { client, ended } of others) {
      await client.upsertPhrase(demo);
      expect(await Promise.race([ended, Promise.resolve("waits")])).toBe("waits");
    }
    for (const { port } of served) {
      expect(away).toContain((await failure(clientAt(port, revoked).upsertPhrase(demo, { timeoutMs: 1_000 }))).code);
    }
  });

  it.concurrent("connections with its client certificates end within 5 s of the write of the CA file", async () => {
    const { live, write } = openFiles(next, both);
    const served = await serveAll(live);
    const ends = [];
    for (const { port } of served) ends.push((await waitAt(port, asGateway(authority))).ended);
    // The next look is a second away.
    await new Promise<void>((resolve) => void vi.spyOn(live, "reload").mockImplementationOnce(resolve));
    const written = performance.now();
    write("ca", next.pair.cert);
    for (const ended of ends) expect((await ended) - written).toBeLessThan(endsWithinMs);
  });

  it.concurrent("a kept-alive HTTP/1.1 connection with its client certificate ends within 5 s", async () => {
    const server = phrasesOf(next);
    const [, { port }] = (await serveAll(server)) as [unknown, { port: number }];
    const { cert, key } = asGateway(authority).value;
    const agent = new TlsAgent({ keepAlive: true, cert, key, ca: both, checkServerIdentity: () => undefined });
    cleanUp(() => agent.destroy());
    const baseUrl = `https://localhost:${port}`;
    const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } });
    await createClient(PhraseService, transport).upsertPhrase(demo);
    const [socket] = Object.values(agent.freeSockets).flat();
    const closed = once(socket!, "close");
    const removed = performance.now();
    server.replace(samePair(server), next.pair.cert);
    await closed;
    expect(performance.now() - removed).toBeLessThan(endsWithinMs);
  });

  it("our client's next call to a server with its certificate fails", async () => {
    const served = await serveAll(phrasesOf(authority));
    const caller = asGateway(authority);
    for (const { port } of served) {
      const client = clientAt(port, caller);
      await client.upsertPhrase(demo);
      caller.replace(samePair(caller), next.pair.cert);
      expect(away).toContain((await failure(client.upsertPhrase(demo, { timeoutMs: 1_000 }))).code);
      caller.replace(samePair(caller), both);
      await vi.waitFor(() => client.upsertPhrase(demo), patient);
    }
  });
});

const names = ["mesh", "teams"] as const;
describe.each(names)("a new authority in place of the old one, under load, at the %s door", (name) => {
  it("fails no call, not even one that runs while the old authority is removed", { timeout: 60_000 }, async () => {
    const server = certificateOf(authority, "phrases");
    const caller = certificateOf(authority, "gateway");
    const gate = Promise.withResolvers<void>();
    const door = doorsWith(server)[names.indexOf(name)]!;
    const deletePhrase: Phrases["deletePhrase"] = (_request, context) =>
      Promise.race([gate.promise, untilCancelled(context)]).then(() => ({}));
    const { port } = await serve(door, { ...implementation, deletePhrase });
    const client = clientAt(port, caller);
    const stop = new AbortController();
    let calls = 0;
    const call = async () => {
      for (; !stop.signal.aborted; calls += 1) await client.upsertPhrase(demo);
    };
    const running = Promise.all(Array.from({ length: 8 }, call));
    const pass = async () => {
      const before = calls;
      await vi.waitFor(() => expect(calls).toBeGreaterThan(before + 200), patient);
    };
    await pass();
    const first = await serialOf(port, caller);
    server.replace(samePair(server), both);
    await pass();
    caller.replace(samePair(caller), both);
    await pass();
    server.replace(next.issue({ uris: [`spiffe://${domain}/phrases`] }), both);
    await pass();
    caller.replace(next.issue({ uris: [gateway] }), both);
    await pass();
    const revoked = await waitAt(port, asGateway(authority));
    const long = client.deletePhrase(demo, { timeoutMs: 60_000 });
    server.replace(samePair(server), next.pair.cert);
    await pass();
    caller.replace(samePair(caller), next.pair.cert);
    await pass();
    // The connection of `revoked` ends, because its certificate is of the old authority. If the
    // server ended those of `running` and `long` by mistake, they would end together with it.
    await revoked.ended;
    stop.abort();
    gate.resolve();
    await Promise.all([running, long]);
    expect(await serialOf(port, caller)).not.toBe(first);
    const old = new TestCertificate(authority.issue({ uris: [gateway] }), both);
    expect(away).toContain((await failure(clientAt(port, old).upsertPhrase(demo, { timeoutMs: 1_000 }))).code);
  });
});
