import { Code, createClient } from "@connectrpc/connect";
import { credentials } from "@grpc/grpc-js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vidimus/contracts/grpc/health/v1/health";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { describe, expect, it, vi } from "vitest";
import { patient } from "../../testing/patient.ts";
import type { Grant } from "./teams/grants.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { serviceCredentials } from "../../tls/service-credentials.ts";
import { certificateOf, domain, TestCertificate } from "../../tls/testing/certificates.ts";
import { callContext } from "../context/call-context.ts";
import { createGrpcTransport } from "../client/grpc-transport.ts";
import { startMeshServer } from "./mesh/mesh-server.ts";
import { meshRoute, type RpcRoute, teamsRoute } from "./shared/route.ts";
import { startTeamsServer } from "./teams/teams-server.ts";
import { collect, type Door, failure, numberIn, opened, phrase, type Phrases } from "../testing/doors.ts";
import { piece, serve } from "../testing/doors.ts";
import { logLines } from "../testing/log-lines.ts";

const authority = createAuthority();
const stranger = createAuthority("another CA");
const hour = 3_600_000;
const gateway = `spiffe://${domain}/gateway`;
const team = `spiffe://${domain}/team/newsroom`;
const other = `spiffe://${domain}/team/other`;

const implementation: Phrases = {
  upsertPhrase: () => phrase(1),
  deletePhrase: () => ({}),
  async *listPhrases() {
    yield* [piece(1), piece(2)];
  },
};

const grant: Grant = {
  identity: team,
  tenants: new Set(["demo"]),
  services: new Set([PhraseService.typeName]),
  methods: new Set(),
  roles: new Set(["editor"]),
  people: false,
};
const elsewhere = { ...grant, identity: other, services: new Set(["vidimus.access.v1.AccessService"]) };
const grants = () => new Map([grant, elsewhere].map((each) => [each.identity, each]));

/** `deletePhrase` is implemented, and has no row in `callers` and `effects`. */
const callers = { upsertPhrase: ["gateway"], listPhrases: ["gateway", "delivery"] };
const effects = { upsertPhrase: "write", listPhrases: "read" } as const;
const rowsOf = (route: RpcRoute) => ({ ...route, methods: ["upsertPhrase", "listPhrases"] as const });

function doorsWith(certificate: TestCertificate): readonly (Door & { readonly admitted: string })[] {
  return [
    {
      name: "mesh",
      admitted: gateway,
      start: ({ routes, ...options }) =>
        startMeshServer({ ...options, certificate, routes: routes.map((each) => meshRoute(rowsOf(each), callers)) }),
    },
    {
      name: "teams",
      admitted: team,
      start: ({ routes, ...options }) =>
        startTeamsServer({
          ...options,
          certificate,
          grants,
          routes: routes.map((each) => teamsRoute(rowsOf(each), effects)),
        }),
    },
  ];
}

/** A client with the given certificate. It trusts every server certificate of the authority. */
function clientOf(port: number, pair?: { cert: string; key: string }) {
  const [key, cert] = pair ? [Buffer.from(pair.key), Buffer.from(pair.cert)] : [];
  const ca = Buffer.from(authority.pair.cert);
  const ssl = credentials.createSsl(ca, key, cert, { checkServerIdentity: () => undefined });
  const transport = opened(createGrpcTransport({ target: `dns:///localhost:${port}`, credentials: ssl }));
  return { ...createClient(PhraseService, transport), health: createClient(Health, transport) };
}

async function refusedCount({ callsRefused }: Metrics, door: string, reason: string): Promise<number> {
  const { values } = await callsRefused.get();
  return values.find(({ labels }) => labels.door === door && labels.reason === reason)?.value ?? 0;
}

const as = (...uris: string[]) => authority.issue({ uris });
const demo = { tenantId: "demo" };

describe.each(doorsWith(certificateOf(authority, "phrases")))("the $name door under TLS", (door) => {
  async function open() {
    const { log, lines } = logLines("info");
    const served = await serve(door, implementation, { log, host: "127.0.0.1" });
    const all = () => lines.filter(({ msg }) => msg === "caller refused");
    // A client of another test may still try this port without TLS, because the ended server of
    // that test had it. No client of these tests calls without TLS.
    const refusals = () => all().filter(({ what }) => what !== "ERR_SSL_WRONG_VERSION_NUMBER");
    const counted = (reason: string) => refusedCount(served.metrics, door.name, reason);
    return { ...served, all, refusals, counted };
  }

  it("answers unary and streaming calls of a known caller, and logs no refusal", async () => {
    const { port, refusals } = await open();
    const client = clientOf(port, as(door.admitted));
    expect(numberIn((await client.upsertPhrase(demo)).phraseJson)).toBe(1);
    expect(await collect(client.listPhrases(demo))).toEqual([1, 2]);
    expect(refusals()).toEqual([]);
  });

  it.each([
    ["no certificate", undefined, "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE"],
    ["a certificate of another CA", stranger.issue({ uris: [door.admitted] }), "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    [
      "an expired certificate",
      authority.issue({ uris: [door.admitted], to: new Date(Date.now() - 1) }),
      "CERT_HAS_EXPIRED",
    ],
    [
      "a certificate that is not valid yet",
      authority.issue({ uris: [door.admitted], from: new Date(Date.now() + hour) }),
      "CERT_NOT_YET_VALID",
    ],
  ])("ends a handshake with %s, and logs and counts the refusal", async (_name, pair, what) => {
    const { port, all, refusals, counted } = await open();
    const error = await failure(clientOf(port, pair).upsertPhrase(demo, { timeoutMs: 2_000 }));
    expect([Code.Unavailable, Code.DeadlineExceeded]).toContain(error.code);
    const refusal = { level: "warn", door: door.name, reason: "handshake", who: "nobody", what };
    const [line] = await vi.waitUntil(() => (refusals().length > 0 ? refusals() : undefined), patient);
    expect(line).toMatchObject({ ...refusal, peer: expect.stringMatching(/^127\.0\.0\.1:\d+$|^::/) });
    expect(await counted("handshake")).toBe(all().length);
  });

  it.each([
    ["two URI names", [door.admitted, `spiffe://${domain}/delivery`]],
    ["no URI name", []],
    ["a URI name that is no identity", ["https://example.org/gateway"]],
  ])("refuses a caller whose certificate has %s", async (_name, uris) => {
    const { port, refusals, counted } = await open();
    const client = clientOf(port, as(...uris));
    expect((await failure(client.upsertPhrase(demo))).code).toBe(Code.Unauthenticated);
    expect(refusals()).toEqual([expect.objectContaining({ reason: "identity", who: "nobody" })]);
    expect(await counted("identity")).toBe(1);
    expect((await failure(collect(client.listPhrases(demo)))).code).toBe(Code.Unauthenticated);
    expect((await failure(client.health.check({}))).code).toBe(Code.Unauthenticated);
  });

  it("refuses a caller whose certificate has expired since the handshake", async () => {
    const { port } = await open();
    const to = new Date(Date.now() + hour);
    const client = clientOf(port, authority.issue({ uris: [door.admitted], to }));
    await client.upsertPhrase(demo);
    // Only Date is faked, because the connection needs its timers.
    vi.useFakeTimers({ toFake: ["Date"], now: to });
    const error = await failure(client.upsertPhrase(demo)).finally(() => vi.useRealTimers());
    expect([error.code, error.rawMessage]).toEqual([Code.Unauthenticated, expect.stringContaining("expired")]);
  });

  it("refuses a method that its route does not open, even to a caller of the other methods", async () => {
    const { port, refusals } = await open();
    expect((await failure(clientOf(port, as(door.admitted)).deletePhrase(demo))).code).toBe(Code.PermissionDenied);
    const what = expect.stringContaining("vidimus.phrases.v1.PhraseService/DeletePhrase");
    expect(refusals()).toEqual([expect.objectContaining({ who: door.admitted, what })]);
  });

  it("shows its health to an identity that may not call its service", async () => {
    const { port } = await open();
    const client = clientOf(port, as(`spiffe://${domain}/operator`));
    expect((await client.health.check({})).status).toBe(Status.SERVING);
    expect((await failure(client.upsertPhrase(demo))).code).toBe(Code.PermissionDenied);
  });

  it("tells handlers the identity of the certificate, not one that the metadata state", async () => {
    const seen: string[] = [];
    const { port } = await serve(door, {
      upsertPhrase: (_request, context) => {
        seen.push(callContext(context).identity);
        return {};
      },
    });
    const headers = { "vidimus-identity": "spiffe://a/b", identity: "spiffe://a/b" };
    await clientOf(port, as(door.admitted)).upsertPhrase(demo, { headers });
    expect(seen).toEqual([door.admitted]);
  });

  it("may bind another address than loopback", async () => {
    const { port } = await serve(door, {}, { host: "0.0.0.0" });
    expect(port).toBeGreaterThan(0);
  });
});

describe("the mesh door under TLS", () => {
  it.each([
    ["a service that the method's route does not name", `spiffe://${domain}/delivery`],
    ["a team", team],
    ["a service of another trust domain", "spiffe://elsewhere.example/gateway"],
    ["an identity whose path only ends with a service's name", `spiffe://${domain}/team/gateway`],
  ])("refuses %s, and logs and counts the refusal", async (_name, identity) => {
    const [mesh] = doorsWith(certificateOf(authority, "phrases"));
    const { log, lines } = logLines("info");
    const { port, metrics } = await serve(mesh!, implementation, { log });
    const error = await failure(clientOf(port, as(identity)).upsertPhrase(demo));
    expect(error.code).toBe(Code.PermissionDenied);
    const what = "vidimus.phrases.v1.PhraseService/UpsertPhrase";
    expect(lines).toEqual([expect.objectContaining({ msg: "caller refused", reason: "method", who: identity, what })]);
    expect(await refusedCount(metrics, "mesh", "method")).toBe(1);
  });
});

describe("the teams door under TLS", () => {
  it.each([
    ["an identity without a grant", gateway, demo, "", "service"],
    ["a service outside of the grant", other, demo, "", "service"],
    ["a tenant outside of the grant", team, { tenantId: "rival" }, "editor", "tenant"],
    ["a request without a tenant", team, {}, "editor", "tenant"],
    ["a role outside of the grant", team, demo, "owner", "role"],
  ])("refuses %s, and logs the refusal", async (_name, identity, request, role, reason) => {
    const [, teams] = doorsWith(certificateOf(authority, "phrases"));
    const { log, lines } = logLines("info");
    const { port } = await serve(teams!, implementation, { log });
    const client = clientOf(port, as(identity));
    const headers = { "vidimus-role": role };
    expect((await failure(client.upsertPhrase(request, { headers }))).code).toBe(Code.PermissionDenied);
    expect((await failure(collect(client.listPhrases(request, { headers })))).code).toBe(Code.PermissionDenied);
    const line = expect.objectContaining({ msg: "caller refused", reason, who: identity });
    expect(lines).toEqual([line, line]);
  });
});

describe("our client", () => {
  it.each([
    ["another service of the trust domain", authority.issue({ uris: [`spiffe://${domain}/delivery`] })],
    ["a service of another trust domain", authority.issue({ uris: ["spiffe://elsewhere.example/phrases"] })],
    ["two names", authority.issue({ uris: [`spiffe://${domain}/phrases`, `spiffe://${domain}/delivery`] })],
    ["another CA", stranger.issue({ uris: [`spiffe://${domain}/phrases`], hosts: ["localhost"] })],
  ])("does not call a server with a certificate of %s", async (_name, pair) => {
    const server = certificateOf(authority, "phrases");
    // The certificate is set without `replace`, which would check it as a service does at its
    // start.
    const material = { ...server.value, cert: Buffer.from(pair.cert), key: Buffer.from(pair.key) };
    Object.defineProperty(server, "value", { value: material });
    const [mesh] = doorsWith(server);
    const upsertPhrase = vi.fn(() => phrase(1));
    const { port } = await serve(mesh!, { ...implementation, upsertPhrase });
    const caller = certificateOf(authority, "gateway");
    const transport = createGrpcTransport({
      target: `dns:///localhost:${port}`,
      credentials: serviceCredentials(caller, "phrases"),
    });
    const call = createClient(PhraseService, opened(transport)).upsertPhrase(demo, { timeoutMs: 1_500 });
    expect([Code.Unavailable, Code.DeadlineExceeded]).toContain((await failure(call)).code);
    expect(upsertPhrase).not.toHaveBeenCalled();
  });
});

describe("with a path of identities such as SPIRE and Istio have", () => {
  const path = "/ns/vidimus/sa/{service}";
  const at = (service: string) => `spiffe://${domain}/ns/vidimus/sa/${service}`;

  it("the mesh door admits a method's caller at that path, and no other service or path", async () => {
    const [mesh] = doorsWith(certificateOf(authority, "phrases", path));
    const { port } = await serve(mesh!, implementation);
    const number = async (uri: string) => (await clientOf(port, as(uri)).upsertPhrase(demo)).phraseJson;
    expect(numberIn(await number(at("gateway")))).toBe(1);
    for (const uri of [gateway, at("delivery"), `spiffe://${domain}/ns/other/sa/gateway`]) {
      expect((await failure(number(uri))).code).toBe(Code.PermissionDenied);
    }
  });

  it.each([
    ["is answered when the same path is set for the caller", "answered", path],
    ["is not answered when no path is set for the caller", "not answered", undefined],
  ])("a call to a server at that path %s", async (_name, expected, callerPath) => {
    const [mesh] = doorsWith(certificateOf(authority, "phrases", path));
    const { port } = await serve(mesh!, implementation);
    const pair = as(at("gateway"));
    const caller = new TestCertificate(pair, authority.pair.cert, callerPath);
    const transport = createGrpcTransport({
      target: `dns:///localhost:${port}`,
      credentials: serviceCredentials(caller, "phrases"),
    });
    const call = createClient(PhraseService, opened(transport)).upsertPhrase(demo, {
      timeoutMs: callerPath ? 10_000 : 1_500,
    });
    const outcome = await call.then(
      () => "answered",
      () => "not answered",
    );
    expect(outcome).toBe(expected);
  });
});
