import { randomUUID } from "node:crypto";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { GatewayConfig } from "../src/config.ts";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

type Gateway = Awaited<ReturnType<typeof openGateway>>;

let rpc: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  rpc = await serve(new FakeDocuments().routes());
});

afterAll(() => rpc[Symbol.asyncDispose]());

const open = (overrides: Partial<GatewayConfig>) =>
  openGateway({ documentsTarget: `127.0.0.1:${rpc.port}`, ...overrides });

async function read(gateway: Gateway, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/documents?type=core/tag`, { headers });
  await response.arrayBuffer();
  return response.status;
}

async function push(gateway: Gateway, key: string) {
  const response = await fetch(`${gateway.url}/v1/documents`, {
    method: "POST",
    headers: { ...bearer(key), "content-type": "application/json" },
    body: JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "x" }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { error: { message: string } },
  };
}

describe("the limit per address", () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await open({ ipRate: { count: 1, windowMs: 60_000 }, trustedProxies: ["127.0.0.0/8"] });
  });

  afterAll(() => gateway[Symbol.asyncDispose]());

  const of = (forwarded: string) => read(gateway, { "x-forwarded-for": forwarded });

  test("counts the clients behind a trusted proxy apart", async () => {
    expect(await of("192.0.2.1")).toBe(401);
    expect(await of("192.0.2.2")).toBe(401);
    expect(await of("192.0.2.1")).toBe(429);
  });

  test("ignores an address that the client itself has written into X-Forwarded-For", async () => {
    expect(await of("192.0.2.3")).toBe(401);
    expect(await of("203.0.113.9, 192.0.2.3")).toBe(429);
  });

  test("counts the clients of an IPv6 /64 together", async () => {
    expect(await of("2001:db8:0:1::1")).toBe(401);
    expect(await of("2001:db8:0:1::2")).toBe(429);
    expect(await of("2001:db8:0:2::2")).toBe(401);
  });
});

describe("the write budget", () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await open({ writeBudget: { count: 2, windowMs: 60_000 } });
  });

  afterAll(() => gateway[Symbol.asyncDispose]());

  test("is counted down in the headers of writes", async () => {
    const key = await newKey(gateway.access, "acme");
    const [first, second] = [await push(gateway, key), await push(gateway, key)];
    expect(first.headers.get("ratelimit-policy")).toBe('"writes";q=2;w=60');
    expect(first.headers.get("ratelimit")).toMatch(/^"writes";r=1;t=\d+$/);
    expect(second.headers.get("ratelimit")).toMatch(/^"writes";r=0;t=\d+$/);
  });

  test("is not spent by reads", async () => {
    const key = await newKey(gateway.access, "reader");
    for (let times = 0; times < 3; times += 1) expect(await read(gateway, bearer(key))).toBe(200);
    expect((await push(gateway, key)).headers.get("ratelimit")).toMatch(/^"writes";r=1;t=\d+$/);
  });

  test("refuses writes, but no reads, once it is used up", async () => {
    const key = await newKey(gateway.access, "writer");
    const [first, second, third] = [await push(gateway, key), await push(gateway, key), await push(gateway, key)];
    expect([first, second, third].map(({ status }) => status)).toEqual([201, 201, 429]);
    expect(third.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(third.body.error.message).toMatch(
      /^Write budget of the tenant of 2 writes per 60 s exceeded; retry in \d+ s$/,
    );
    expect(await read(gateway, bearer(key))).toBe(200);
  });
});

describe("a limit that is off", () => {
  test("neither refuses writes nor shows in their headers", async () => {
    await using gateway = await open({});
    const key = await newKey(gateway.access, "acme");
    const answers = await Promise.all(Array.from({ length: 50 }, () => push(gateway, key)));
    for (const { status, headers } of answers) {
      expect(status).toBe(201);
      expect(headers.get("ratelimit")).toBeNull();
      expect(headers.get("ratelimit-policy")).toBeNull();
    }
  });
});

describe("metrics", () => {
  test("count the decisions of the limit per address by their outcome", async () => {
    await using gateway = await open({ ipRate: { count: 1, windowMs: 60_000 } });
    await read(gateway);
    await read(gateway);
    await vi.waitFor(async () => {
      const text = await (await fetch(`${gateway.ops}/metrics`)).text();
      expect(text).toMatch(/vidimus_rate_limit_decisions_total\{policy="ip",outcome="allowed"[^}]*\} 1/);
      expect(text).toMatch(/vidimus_rate_limit_decisions_total\{policy="ip",outcome="denied"[^}]*\} 1/);
    }, patient);
  });
});
