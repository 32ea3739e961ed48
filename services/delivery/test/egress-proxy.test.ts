import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { patient } from "@vidimus/kit/testing/patient";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAddressRule } from "../src/domain/address-rules.ts";
import { createPortRule } from "../src/domain/port-rules.ts";
import { createGuardedAgent } from "../src/net/guarded-agent.ts";
import { createPostWebhook } from "../src/net/post-webhook.ts";
import type { EgressProxy } from "../src/net/proxy-connector.ts";
import { type ConnectProxy, openConnectProxy } from "./support/connect-proxy.ts";

const authority = createAuthority("Receivers and proxies of a test");
const believed = getCACertificates("default");
beforeAll(() => setDefaultCACertificates([...believed, authority.pair.cert]));
afterAll(() => setDefaultCACertificates(believed));

let proxy: ConnectProxy;
beforeEach(async () => {
  proxy = await openConnectProxy();
});
afterEach(() => proxy[Symbol.asyncDispose]());

interface Setup {
  readonly names?: Record<string, string[]>;
  readonly allowCidrs?: string[];
  readonly connectMs?: number;
  readonly proxy?: EgressProxy;
}

function openPost(setup: Setup = {}) {
  const { names = { "hooks.example": ["127.0.0.1"] }, allowCidrs = ["127.0.0.0/8"], connectMs = 2_000 } = setup;
  const mayDial = createAddressRule(allowCidrs);
  const resolve = async (host: string) => names[host] ?? Promise.reject(new Error("ENOTFOUND"));
  const agent = createGuardedAgent({ resolve, mayDial, connectMs, proxy: setup.proxy ?? proxy });
  const post = createPostWebhook({ agent, rule: { mayDial, mayUsePort: createPortRule("1-65535") }, attemptMs: 6_000 });
  return {
    post: (url: string) => post({ url, headers: {}, body: Buffer.from("{}") }),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

async function listen(server: Server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A receiver with TLS and a certificate for these names. */
async function openTlsReceiver(...hosts: string[]) {
  const seen: { host: string | undefined; sni: string | false | null }[] = [];
  const server = createTlsServer(authority.issue({ uris: [], hosts }), (request, response) => {
    seen.push({ host: request.headers.host, sni: (request.socket as TLSSocket).servername });
    response.writeHead(204).end();
  });
  return { ...(await listen(server)), seen };
}

describe("through a proxy", () => {
  it("a webhook goes to the checked address, with SNI, Host and certificate of the URL's host name", async () => {
    await using receiver = await openTlsReceiver("hooks.example");
    await using sender = openPost();
    expect((await sender.post(`https://hooks.example:${receiver.port}/hook`)).status).toBe(204);
    expect(proxy.targets).toEqual([`127.0.0.1:${receiver.port}`]);
    expect(receiver.seen).toEqual([{ host: `hooks.example:${receiver.port}`, sni: "hooks.example" }]);
  });

  it("a receiver whose certificate names another host is refused", async () => {
    await using receiver = await openTlsReceiver("other.example", "127.0.0.1");
    await using sender = openPost();
    expect((await sender.post(`https://hooks.example:${receiver.port}/hook`)).failure).toBe("tls");
    expect(receiver.seen).toEqual([]);
  });

  it("a webhook whose URL has an IP address goes there if the receiver's certificate names that address", async () => {
    await using receiver = await openTlsReceiver("127.0.0.1");
    await using sender = openPost();
    expect((await sender.post(`https://127.0.0.1:${receiver.port}/`)).status).toBe(204);
    expect(proxy.targets).toEqual([`127.0.0.1:${receiver.port}`]);
  });

  it("plain http goes by CONNECT, too", async () => {
    await using receiver = await listen(createServer((_request, response) => void response.writeHead(202).end()));
    await using sender = openPost();
    expect((await sender.post(`http://hooks.example:${receiver.port}/hook`)).status).toBe(202);
    expect(proxy.targets).toEqual([`127.0.0.1:${receiver.port}`]);
  });

  // undici opens a second connection for a webhook that comes while it still tidies up after the
  // first webhook.
  it("webhooks that follow each other use two connections at most", async () => {
    await using receiver = await openTlsReceiver("hooks.example");
    await using sender = openPost();
    for (let sent = 0; sent < 9; sent += 1) await sender.post(`https://hooks.example:${receiver.port}/hook`);
    expect(receiver.seen).toHaveLength(9);
    expect(proxy.targets.length).toBeLessThanOrEqual(2);
  });

  it("the next address is tried when the proxy does not reach the first", async () => {
    await using receiver = await openTlsReceiver("hooks.example");
    await using sender = openPost({ names: { "hooks.example": ["127.0.0.2", "127.0.0.1"] } });
    expect((await sender.post(`https://hooks.example:${receiver.port}/hook`)).status).toBe(204);
    expect(proxy.targets).toEqual([`127.0.0.2:${receiver.port}`, `127.0.0.1:${receiver.port}`]);
  });

  it.each([
    ["10.0.0.7", ["10.0.0.7"]],
    ["169.254.169.254", ["169.254.169.254"]],
    ["8.8.8.8 and 10.0.0.7", ["8.8.8.8", "10.0.0.7"]],
  ])("the proxy is not asked for a name that resolves to %s", async (_, addresses) => {
    await using sender = openPost({ names: { "inside.example": addresses } });
    expect((await sender.post("https://inside.example/")).failure).toBe("dns");
    expect(proxy.connections()).toBe(0);
  });

  it("the proxy is not asked for an internal address in a URL", async () => {
    await using sender = openPost();
    expect((await sender.post("https://10.0.0.7/")).failure).toBe("address_refused");
    expect(proxy.connections()).toBe(0);
  });

  it("a new connection is refused once the receiver's name resolves to an internal address", async () => {
    await using receiver = await listen(
      createServer((_request, response) => void response.writeHead(204, { connection: "close" }).end()),
    );
    const names = { "hooks.example": ["127.0.0.1"] };
    await using sender = openPost({ names, allowCidrs: ["127.0.0.1/32"] });
    expect((await sender.post(`http://hooks.example:${receiver.port}/`)).status).toBe(204);
    names["hooks.example"] = ["127.0.0.2"];
    expect((await sender.post(`http://hooks.example:${receiver.port}/`)).failure).toBe("dns");
    expect(proxy.targets).toHaveLength(1);
  });

  it("the proxy's credentials are sent to the proxy, and not to the receiver", async () => {
    const headers: object[] = [];
    await using receiver = await listen(
      createServer((request, response) => {
        headers.push(request.headers);
        response.end();
      }),
    );
    await using sender = openPost({ proxy: { origin: proxy.origin, authorization: "Basic aG9va3M6c2VjcmV0" } });
    await sender.post(`http://hooks.example:${receiver.port}/`);
    expect(proxy.authorizations).toEqual(["Basic aG9va3M6c2VjcmV0"]);
    expect(headers[0]).not.toHaveProperty("proxy-authorization");
  });

  it("the proxy may speak TLS itself, if its certificate names the proxy's host", async () => {
    await using receiver = await openTlsReceiver("hooks.example");
    const url = `https://hooks.example:${receiver.port}/hook`;
    await using named = await openConnectProxy(authority.issue({ uris: [], hosts: ["localhost"] }));
    await using sender = openPost({ proxy: named });
    expect((await sender.post(url)).status).toBe(204);
    await using other = await openConnectProxy(authority.issue({ uris: [], hosts: ["proxy.example"] }));
    await using wary = openPost({ proxy: other });
    expect((await wary.post(url)).failure).toBe("connection");
    expect(other.targets).toEqual([]);
  });
});

describe("a proxy that", () => {
  const url = "https://hooks.example/";

  it.each([403, 407, 502])(
    "answers %i counts as a failed connection, of which the tenant reads the status only",
    async (status) => {
      proxy.behaviour.onConnect = (_request, socket) =>
        socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 2\r\n\r\nno`);
      await using sender = openPost();
      const { failure, detail } = await sender.post(url);
      expect([failure, detail]).toEqual(["connection", `the egress proxy answered ${status}`]);
      await expect.poll(proxy.connections, patient).toBe(0);
    },
  );

  it("is not there counts as a failed connection", async () => {
    const gone = await openConnectProxy();
    await gone[Symbol.asyncDispose]();
    await using sender = openPost({ proxy: gone });
    const { failure, detail } = await sender.post(url);
    expect([failure, detail]).toEqual(["connection", "the egress proxy cannot be used (ECONNREFUSED)"]);
  });

  it("does not answer before the deadline for connecting is disconnected, which counts as a timeout", async () => {
    proxy.behaviour.onConnect = (_request, socket) => void socket.resume();
    await using sender = openPost({ connectMs: 300 });
    const { failure, tookMs } = await sender.post(url);
    expect(failure).toBe("timeout");
    expect(tookMs).toBeLessThan(3_000);
    await expect.poll(proxy.connections, patient).toBe(0);
  });

  it("leads to a receiver that speaks no TLS in time counts as a timeout, too", async () => {
    proxy.behaviour.onConnect = (_request, socket) => void socket.resume().write("HTTP/1.1 200 OK\r\n\r\n");
    await using sender = openPost({ connectMs: 300 });
    const { failure, tookMs } = await sender.post(url);
    expect(failure).toBe("timeout");
    expect(tookMs).toBeLessThan(3_000);
    await expect.poll(proxy.connections, patient).toBe(0);
  });

  it.each(["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\n\r\n"])(
    "closes the connection after the answer %j counts as a failed connection",
    async (said) => {
      proxy.behaviour.onConnect = (_request, socket) => void socket.end(said);
      await using sender = openPost();
      expect((await sender.post(url)).failure).toBe("connection");
      expect(proxy.targets).toHaveLength(1);
    },
  );

  it("cuts its connections before the receiver has answered counts as a failed connection", async () => {
    await using receiver = await listen(createServer(() => proxy.cut()));
    await using sender = openPost();
    expect((await sender.post(`http://hooks.example:${receiver.port}/`)).failure).toBe("connection");
  });

  it("has cut its connections is connected to again for the next webhook", async () => {
    let answering = false;
    await using receiver = await listen(
      createServer((_request, response) => void (answering ? response.writeHead(204).end() : proxy.cut())),
    );
    await using sender = openPost();
    await sender.post(`http://hooks.example:${receiver.port}/`);
    answering = true;
    expect((await sender.post(`http://hooks.example:${receiver.port}/`)).status).toBe(204);
    expect(proxy.targets).toHaveLength(2);
  });
});
