import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { once } from "node:events";
import { Agent, get as getPlain } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { serviceCredentials } from "../../tls/service-credentials.ts";
import { certificateOf, domain } from "../../tls/testing/certificates.ts";
import { createGrpcTransport as createOwnTransport } from "../client/grpc-transport.ts";
import { type RpcRoute, teamsRoute } from "./shared/route.ts";
import { parseGrants } from "./teams/parse-grants.ts";
import { startTeamsServer } from "./teams/teams-server.ts";
import { cleanUp, collect, type Door, type DoorOptions, numberIn, opened, phrase } from "../testing/doors.ts";
import { type Phrases, piece, serve } from "../testing/doors.ts";

const authority = createAuthority();
const certificate = certificateOf(authority, "phrases");
const caller = certificateOf(authority, "team");
const { cert, key } = caller.value;
const tls = { ca: authority.pair.cert, cert, key };
const identity = `spiffe://${domain}/team`;
const grant = { identity, tenants: ["*"], services: [PhraseService.typeName], roles: [] };
const grants = () => parseGrants(JSON.stringify({ grants: [grant] }));
const secured: Door = {
  name: "teams",
  start: ({ routes, ...options }) => startTeamsServer({ ...options, routes: routes.map(toTeams), certificate, grants }),
};
/** The route, with all its methods open to teams as reads. */
const toTeams = (route: RpcRoute) =>
  teamsRoute(route, Object.fromEntries(route.methods.map((method) => [method, "read"])));
const implementation: Phrases = {
  upsertPhrase: () => phrase(1),
  async *listPhrases() {
    yield* [piece(1), piece(2)];
  },
};
const serveTls = (options?: DoorOptions) => serve(secured, implementation, options);

describe("the teams door under TLS", () => {
  const nodeOptions = tls;
  const agent = new TlsAgent(tls);
  it.each<[string, (baseUrl: string) => Transport]>([
    [
      "Connect over HTTP/1.1",
      (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } }),
    ],
    [
      "gRPC-Web over HTTP/1.1",
      (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } }),
    ],
    ["Connect over HTTP/2", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", nodeOptions })],
    ["gRPC-Web over HTTP/2", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2", nodeOptions })],
    ["gRPC", (baseUrl) => createGrpcTransport({ baseUrl, nodeOptions })],
    [
      "gRPC from our client",
      (baseUrl) => {
        const credentials = serviceCredentials(caller, "phrases");
        return opened(createOwnTransport({ target: `dns:///${new URL(baseUrl).host}`, credentials }));
      },
    ],
  ])("answers unary and streaming calls of %s", async (_name, transportTo) => {
    const { port } = await serveTls();
    const client = createClient(PhraseService, transportTo(`https://localhost:${port}`));
    expect(numberIn((await client.upsertPhrase({ tenantId: "demo" })).phraseJson)).toBe(1);
    expect(await collect(client.listPhrases({ tenantId: "demo" }))).toEqual([1, 2]);
  });

  it.each([
    [["h2"], "h2"],
    [["http/1.1"], "http/1.1"],
    [["http/1.1", "h2"], "h2"],
    [[], "no protocol"],
  ])("answers the ALPN offer %j with %s", async (ALPNProtocols, chosen) => {
    const { port } = await serveTls();
    const socket = connectTls({ host: "127.0.0.1", port, ...tls, servername: "localhost", ALPNProtocols });
    cleanUp(() => socket.destroy());
    await once(socket, "secureConnect");
    expect(socket.alpnProtocol || "no protocol").toBe(chosen);
  });

  it("may bind another address than loopback", async () => {
    const { port } = await serveTls({ host: "0.0.0.0" });
    expect(port).toBeGreaterThan(0);
  });

  it("stops although a client never finishes its TLS handshake, and closes that client's connection", async () => {
    const { port, stop } = await serveTls({ drainMs: 50 });
    const socket = connectTcp({ host: "127.0.0.1", port });
    await once(socket, "connect");
    const closed = once(socket.resume(), "close");
    await stop();
    await closed;
  });

  it("closes a kept-alive HTTP/1.1 connection at a stop, without waiting for the drain deadline", async () => {
    const { port, stop } = await serveTls({ drainMs: 60_000 });
    const agent = new TlsAgent({ keepAlive: true, ...tls });
    cleanUp(() => agent.destroy());
    const baseUrl = `https://localhost:${port}`;
    const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } });
    await createClient(PhraseService, transport).upsertPhrase({ tenantId: "demo" });
    const [kept] = Object.values(agent.freeSockets).flat();
    const closed = once(kept as TLSSocket, "close");
    await stop();
    await closed;
  });
});

describe("the teams door in plaintext", () => {
  it("does not answer a request over HTTP/1.1", async () => {
    const { port } = await serve({ name: "teams", start: startTeamsServer }, implementation);
    const request = getPlain({ host: "127.0.0.1", port, agent: new Agent() });
    cleanUp(() => request.destroy());
    const answered = once(request, "response").then(
      () => "answered",
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(await answered).not.toBe("answered");
  });
});
