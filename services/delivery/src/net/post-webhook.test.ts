import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createAddressRule } from "../domain/address-rules.ts";
import { createPortRule } from "../domain/port-rules.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { createPostWebhook } from "./post-webhook.ts";

async function listen(listener: RequestListener) {
  const server = createServer(listener);
  let connections = 0;
  server.on("connection", () => void (connections += 1));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    onConnection: (listener: (socket: Socket) => void) => void server.on("connection", listener),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** At least one address of every special-purpose range. */
const specialPurpose = [
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.8.8.8",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.8",
  "192.0.2.1",
  "192.31.196.1",
  "192.52.193.1",
  "192.88.99.1",
  "192.168.1.1",
  "192.175.48.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::7f00:1",
  "::ffff:10.0.0.1",
  "64:ff9b::a00:1",
  "64:ff9b:1::1",
  "100::1",
  "2001::1",
  "2001:db8::1",
  "2002:a00:1::1",
  "2620:4f:8000::1",
  "3fff::1",
  "5f00::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "ff02::1",
];

interface Setup {
  allowCidrs?: string[];
  names?: Record<string, string[]>;
  attemptMs?: number;
  allowPorts?: string;
  resolve?: (host: string) => Promise<string[]>;
}

function openPost(setup: Setup = {}) {
  const { allowCidrs = ["127.0.0.0/8", "::1/128"], names = {}, attemptMs = 5_000, allowPorts = "1-65535" } = setup;
  const mayDial = createAddressRule(allowCidrs);
  const lookUp = async (host: string) => {
    const addresses = names[host];
    if (!addresses) throw new Error("ENOTFOUND");
    return addresses;
  };
  const { resolve = lookUp } = setup;
  const agent = createGuardedAgent({ resolve, mayDial, connectMs: 1_000 });
  const rule = { mayDial, mayUsePort: createPortRule(allowPorts) };
  const post = createPostWebhook({ agent, rule, attemptMs });
  return {
    post: (url: string) => post({ url, headers: { "content-type": "application/json" }, body: Buffer.from("{}") }),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

describe("posting a webhook", () => {
  it("keeps the status and the first KiB of the answer", async () => {
    await using server = await listen((_request, response) => response.writeHead(422).end("no ".repeat(1_000)));
    await using sender = openPost();
    const outcome = await sender.post(`http://127.0.0.1:${server.port}/`);
    expect(outcome.status).toBe(422);
    expect(outcome.answer).toBe("no ".repeat(1_000).slice(0, 1_024));
  });

  it.each([301, 302, 303, 307, 308])("does not follow a redirect with status %i", async (status) => {
    await using target = await listen((_request, response) => response.end());
    const location = `http://127.0.0.1:${target.port}/`;
    await using server = await listen((_request, response) => response.writeHead(status, { location }).end());
    await using sender = openPost();
    expect((await sender.post(`http://127.0.0.1:${server.port}/`)).status).toBe(status);
    expect(target.connections()).toBe(0);
  });

  it("reads only the beginning of an answer of 100 MB", async () => {
    const chunk = Buffer.alloc(64 * 1024, "x");
    let written = 0;
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
    await using server = await listen((_request, response) => {
      response.once("close", onClosed);
      const write = () => {
        while (written < 100e6 && !response.destroyed) {
          written += chunk.byteLength;
          if (!response.write(chunk)) return void response.once("drain", write);
        }
        response.end();
      };
      write();
    });
    await using sender = openPost();
    const outcome = await sender.post(`http://127.0.0.1:${server.port}/`);
    expect(outcome.status).toBe(200);
    expect(outcome.answer).toHaveLength(1_024);
    await closed;
    // When the sender closed the connection, what it had not read was in socket buffers.
    expect(written).toBeLessThan(20e6);
  });

  it("ends at the deadline when the receiver does not answer", async () => {
    await using silent = await listen(() => {});
    await using sender = openPost({ attemptMs: 300 });
    const { failure, status, tookMs } = await sender.post(`http://127.0.0.1:${silent.port}/`);
    expect([failure, status]).toEqual(["timeout", undefined]);
    expect(tookMs).toBeGreaterThanOrEqual(290);
    expect(tookMs).toBeLessThan(3_000);
  });

  it("sends no request over a connection that is opened only after the deadline", async () => {
    let posts = 0;
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
    await using server = await listen((_request, response) => {
      posts += 1;
      response.end();
    });
    server.onConnection((socket) => socket.once("close", onClosed));
    const { promise: addresses, resolve: answer } = Promise.withResolvers<string[]>();
    await using sender = openPost({ attemptMs: 100, resolve: () => addresses });
    expect((await sender.post(`http://slow.example:${server.port}/`)).failure).toBe("timeout");
    answer(["127.0.0.1"]);
    await closed;
    expect(posts).toBe(0);
  });

  it("keeps the status of an answer whose body does not end before the deadline", async () => {
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
    await using trickle = await listen((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("."), 20);
      response.once("close", () => {
        clearInterval(timer);
        onClosed();
      });
    });
    await using sender = openPost({ attemptMs: 300 });
    const { status, answer, tookMs } = await sender.post(`http://127.0.0.1:${trickle.port}/`);
    await closed;
    expect(status).toBe(200);
    expect(answer).toMatch(/^\.+$/);
    expect(tookMs).toBeGreaterThanOrEqual(290);
  });

  it("reads the answer's Retry-After", async () => {
    await using server = await listen((_request, response) => response.writeHead(503, { "retry-after": "120" }).end());
    await using sender = openPost();
    expect((await sender.post(`http://127.0.0.1:${server.port}/`)).retryAfterMs).toBe(120_000);
  });

  it("distinguishes a refused connection, a name without address and a server without TLS", async () => {
    const server = await listen((_request, response) => response.end());
    await using plain = await listen((_request, response) => response.end());
    await server[Symbol.asyncDispose]();
    await using sender = openPost();
    expect((await sender.post(`http://127.0.0.1:${server.port}/`)).failure).toBe("connection");
    expect((await sender.post("http://nowhere.example/")).failure).toBe("dns");
    expect((await sender.post(`https://127.0.0.1:${plain.port}/`)).failure).toBe("tls");
  });
});

describe("the guard", () => {
  it("refuses a loopback address in the URL without connecting to it", async () => {
    // Node calls no lookup for an address in a URL.
    await using server = await listen((_request, response) => response.end());
    await using sender = openPost({ allowCidrs: [] });
    expect((await sender.post(`http://127.0.0.1:${server.port}/`)).failure).toBe("address_refused");
    expect((await sender.post(`http://[::ffff:127.0.0.1]:${server.port}/`)).failure).toBe("address_refused");
    expect(server.connections()).toBe(0);
  });

  it("refuses a port that is not allowed, with a message that names DELIVERY_ALLOW_PORTS", async () => {
    await using server = await listen((_request, response) => response.end());
    await using sender = openPost({ allowPorts: "443" });
    const { failure, detail } = await sender.post(`http://127.0.0.1:${server.port}/`);
    expect([failure, detail]).toEqual([
      "address_refused",
      `port ${server.port} must not be used (DELIVERY_ALLOW_PORTS)`,
    ]);
    expect(server.connections()).toBe(0);
  });

  it.each(specialPurpose)("refuses a name that resolves to %s as one that does not exist", async (address) => {
    const refused = {
      failure: "dns",
      detail: "inside.example has no address that may be dialled (DELIVERY_ALLOW_CIDRS)",
    };
    for (const names of [{ "inside.example": [address] }, {}]) {
      await using sender = openPost({ allowCidrs: [], names });
      expect(await sender.post("http://inside.example/")).toMatchObject(refused);
    }
  });

  it.each(specialPurpose)("refuses the address %s in a URL", async (address) => {
    await using sender = openPost({ allowCidrs: [] });
    const host = address.includes(":") ? `[${address}]` : address;
    expect((await sender.post(`http://${host}/`)).failure).toBe("address_refused");
  });

  it.each(["2130706433", "0x7f000001", "017700000001", "127.1", "0x7f.1", "127.0.0.1.", "①②⑦.0.0.1"])(
    "dials no loopback address that is written as %s",
    async (host) => {
      await using server = await listen((_request, response) => response.end());
      await using sender = openPost({ allowCidrs: [] });
      expect((await sender.post(`http://${host}:${server.port}/`)).failure).toBe("address_refused");
      expect(server.connections()).toBe(0);
    },
  );

  it("does not look a name up again between check and dial, so a later address is not dialled", async () => {
    await using server = await listen((_request, response) => response.writeHead(204).end());
    // Each lookup gets another answer, so a second lookup while connecting would reach the server.
    const answers = [["8.8.8.8"], ["127.0.0.1"]];
    let asked = 0;
    const resolve = async () => answers[asked++] ?? ["127.0.0.1"];
    const rule = { mayDial: createAddressRule([]), mayUsePort: () => true };
    const agent = createGuardedAgent({ resolve, mayDial: rule.mayDial, connectMs: 200 });
    const post = createPostWebhook({ agent, rule, attemptMs: 500 });
    const outcome = await post({ url: `http://rebind.example:${server.port}/`, headers: {}, body: Buffer.from("{}") });
    await agent.destroy();
    expect([outcome.status, server.connections(), asked]).toEqual([undefined, 0, 1]);
  });

  it("refuses a name with a special-purpose address beside a public one", async () => {
    await using server = await listen((_request, response) => response.end());
    await using sender = openPost({ allowCidrs: [], names: { "mixed.example": ["8.8.8.8", "127.0.0.1"] } });
    expect((await sender.post(`http://mixed.example:${server.port}/`)).failure).toBe("dns");
    expect(server.connections()).toBe(0);
  });

  it("dials the checked address of a name, with the name in the Host header", async () => {
    const hosts: (string | undefined)[] = [];
    await using server = await listen((request, response) => {
      hosts.push(request.headers.host);
      response.writeHead(204).end();
    });
    await using sender = openPost({ names: { "hooks.example": ["127.0.0.1"] } });
    expect((await sender.post(`http://hooks.example:${server.port}/`)).status).toBe(204);
    expect(hosts).toEqual([`hooks.example:${server.port}`]);
  });

  it("checks a name again at the next dial, when it resolves to another address", async () => {
    await using server = await listen((_request, response) => response.writeHead(204, { connection: "close" }).end());
    const names: Record<string, string[]> = { "hooks.example": ["127.0.0.1"] };
    await using sender = openPost({ allowCidrs: ["127.0.0.1/32"], names });
    expect((await sender.post(`http://hooks.example:${server.port}/`)).status).toBe(204);
    names["hooks.example"] = ["127.0.0.2"];
    expect((await sender.post(`http://hooks.example:${server.port}/`)).failure).toBe("dns");
  });
});
