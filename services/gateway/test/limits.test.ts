import { randomUUID } from "node:crypto";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { GatewayConfig } from "../src/config.ts";
import { mintApiKey } from "../src/access/api-key.ts";
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

async function read(gateway: Gateway, headers: Record<string, string> = {}, path = "/v1/documents?type=core/tag") {
  const response = await fetch(`${gateway.url}${path}`, { headers });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { error: { code: string; message: string } },
  };
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

const pauseUntilReset = (headers: Headers) =>
  new Promise((resolve) => {
    setTimeout(resolve, Number(headers.get("retry-after")) * 1_000);
  });

describe("the limit per address", () => {
  test("refuses requests to any path, before any other refusal, until Retry-After is over", async () => {
    await using gateway = await open({ ipRate: { count: 4, windowMs: 2_000 } });
    const key = await newKey(gateway.access, "acme");
    const statuses = [
      (await read(gateway, {}, "/nowhere")).status,
      (await fetch(`${gateway.url}/api/keys`, { method: "POST" })).status,
      (await read(gateway, bearer("nonsense"))).status,
      (await read(gateway, bearer(key))).status,
    ];
    expect(statuses).toEqual([404, 405, 401, 200]);
    for (const path of ["/nowhere", "/v1/documents?type=core/tag", "/api/keys"]) {
      const { status, headers, body } = await read(gateway, {}, path);
      expect(status).toBe(429);
      expect(headers.get("retry-after")).toMatch(/^[12]$/);
      expect(headers.get("ratelimit-policy")).toBe('"ip";q=4;w=2');
      expect(headers.get("ratelimit")).toMatch(/^"ip";r=0;t=[12]$/);
      expect(body.error.code).toBe("RATE_LIMITED");
      expect(body.error.message).toMatch(/^Per-IP limit of 4 requests per 2 s exceeded; retry in [12] s$/);
    }
    await pauseUntilReset((await read(gateway)).headers);
    expect((await read(gateway, bearer(key))).status).toBe(200);
  });

  test("counts the client behind a trusted proxy, and never an address that the client wrote", async () => {
    await using gateway = await open({ ipRate: { count: 1, windowMs: 60_000 }, trustedProxies: ["127.0.0.0/8"] });
    const of = async (forwarded: string) => (await read(gateway, { "x-forwarded-for": forwarded })).status;
    expect(await of("192.0.2.1")).toBe(401);
    expect(await of("192.0.2.2")).toBe(401);
    expect(await of("192.0.2.1")).toBe(429);
    expect(await of("203.0.113.9, 192.0.2.1")).toBe(429);
    expect(await of("2001:db8:0:1::1")).toBe(401);
    expect(await of("2001:db8:0:1::2")).toBe(429);
    expect(await of("2001:db8:0:2::2")).toBe(401);
  });
});

describe("the limit of failed authentications", () => {
  test("turns a flood of bad keys from 401 to 429, while a valid key behind the same address works", async () => {
    await using gateway = await open({ authFailureRate: { count: 3, windowMs: 2_000 } });
    const key = await newKey(gateway.access, "acme");
    const flood = [];
    for (let times = 0; times < 5; times += 1) flood.push((await read(gateway, bearer(mintApiKey().key))).status);
    expect(flood).toEqual([401, 401, 401, 429, 429]);
    expect((await read(gateway, bearer(key))).status).toBe(200);
    const { headers, body } = await read(gateway);
    expect(body.error.message).toContain("failed authentications");
    expect(headers.get("ratelimit-policy")).toBe('"auth-failures";q=3;w=2');
    await pauseUntilReset(headers);
    expect((await read(gateway)).status).toBe(401);
  });
});

describe("the write budget", () => {
  test("is counted down in the headers of writes, and not by reads", async () => {
    await using gateway = await open({ writeBudget: { count: 2, windowMs: 60_000 } });
    const key = await newKey(gateway.access, "acme");
    const first = await push(gateway, key);
    await read(gateway, bearer(key));
    const second = await push(gateway, key);
    const third = await push(gateway, key);
    expect([first, second, third].map(({ status }) => status)).toEqual([201, 201, 429]);
    expect(first.headers.get("ratelimit-policy")).toBe('"writes";q=2;w=60');
    expect(first.headers.get("ratelimit")).toMatch(/^"writes";r=1;t=\d+$/);
    expect(third.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(third.body.error.message).toMatch(
      /^Write budget of the tenant of 2 writes per 60 s exceeded; retry in \d+ s$/,
    );
    expect((await read(gateway, bearer(key))).status).toBe(200);
  });

  test("is shared by all keys of a tenant and by all gateways, and another tenant has its own", async () => {
    await using first = await open({ writeBudget: { count: 100, windowMs: 60_000 } });
    await using second = await openGateway({ ...first.config, grpcPort: 0, meshPort: 0, httpPort: 0, opsPort: 0 });
    const keys = [await newKey(first.access, "acme"), await newKey(first.access, "acme")];
    const rival = await newKey(first.access, "rival");
    const writes = Array.from({ length: 300 }, (_, at) =>
      push(at % 2 === 0 ? first : second, keys[at % 3 === 0 ? 0 : 1]!),
    );
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(200);
    expect((await push(second, rival)).status).toBe(201);
  });
});

describe("off", () => {
  test("a limit that is off refuses nothing and sets no header", async () => {
    await using gateway = await open({});
    const key = await newKey(gateway.access, "acme");
    const answers = await Promise.all(Array.from({ length: 50 }, () => push(gateway, key)));
    for (const { status, headers } of answers) {
      expect(status).toBe(201);
      expect(headers.get("ratelimit")).toBeNull();
    }
  });
});

describe("metrics", () => {
  test("every decision is counted by limit and outcome", async () => {
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
