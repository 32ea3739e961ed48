/** Section 8, the 429 rows of section 4, and rule 5 of section 5: limits and their answers. */
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { readConfig } from "@vidimus/gateway/config";
import { startGateway } from "@vidimus/gateway/gateway";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { refusal, success } from "../support/answers.ts";
import { forgedKey } from "../support/forged-key.ts";
import { article } from "../support/newsroom.ts";
import { callOperation, v1Operations } from "../support/operations.ts";
import { asAdmin, everyScope } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;

beforeAll(async () => {
  stack = await sharedConstellation();
});

/** A new gateway for the constellation's services, with the limits of a test. */
async function openGateway(limits: Record<string, string>, database = testDatabaseName("e2e")) {
  const { dev } = stack;
  const ports = { GRPC_PORT: "0", MESH_PORT: "0", OPS_PORT: "0", HTTP_PORT: "0" };
  const targets = {
    DOCUMENTS_TARGET: dev.mesh.documents,
    PHRASES_TARGET: dev.mesh.phrases,
    SIGNING_TARGET: dev.mesh.signing,
  };
  const off = { IP_RATE_LIMIT: "off", AUTH_FAILURE_RATE_LIMIT: "off", WRITE_BUDGET: "off", LOG_LEVEL: "error" };
  const around = { MONGODB_URL: dev.mongodb, MONGODB_DATABASE: database, NATS_URL: dev.nats };
  await using opened = new AsyncDisposableStack();
  const service = opened.use(await startGateway(readConfig({ ...ports, ...targets, ...around, ...off, ...limits })));
  const access = opened.use(openRpcClient(AccessService, { target: `127.0.0.1:${service.grpcPort}` }));
  const url = `http://127.0.0.1:${service.httpPort}`;
  const running = opened.move();
  return {
    url,
    access,
    database,
    /** A key of every scope; creates the tenant if it is new. */
    async issue(tenantId: string) {
      await access.createTenant({ tenantId, name: tenantId }, asAdmin).catch(() => {});
      const { secret } = await access.createApiKey({ tenantId, name: "x", scopes: everyScope }, asAdmin);
      return { key: secret };
    },
    read: (key: string, headers: Record<string, string> = {}) =>
      fetch(`${url}/v1/documents?type=core/tag`, { headers: { authorization: `Bearer ${key}`, ...headers } }),
    push: (key: string, draft: object = article()) =>
      fetch(`${url}/v1/documents`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(draft),
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The Retry-After, in seconds, of an answer that must be a valid 429. */
async function retryAfter(answer: Response, names: RegExp): Promise<number> {
  const text = answer.headers.get("retry-after") ?? "";
  expect(text).toMatch(/^[1-9]\d*$/);
  expect((await refusal(answer, 429, "RATE_LIMITED")).message).toMatch(names);
  return Number(text);
}

/** The statuses of requests sent at once, so that they are in one window even on a busy machine. */
async function flood(count: number, send: () => Promise<Response>): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, async () => (await send()).status));
}

/** The statuses of requests sent one after the other. */
async function statusesOf(count: number, send: () => Promise<Response>): Promise<number[]> {
  const statuses = [];
  for (let sent = 0; sent < count; sent += 1) {
    const answer = await send();
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  return statuses;
}

describe("8: the ceiling per address", () => {
  test("past it a request is 429 RATE_LIMITED, and a client that waits out Retry-After succeeds", async () => {
    await using gateway = await openGateway({ IP_RATE_LIMIT: "4/3s" });
    const { key } = await gateway.issue("acme");
    const counted = [
      gateway.read(key),
      gateway.read(forgedKey()),
      fetch(`${gateway.url}/nowhere`),
      fetch(`${gateway.url}/api/keys`, { method: "POST" }),
    ];
    expect((await Promise.all(counted)).map(({ status }) => status)).toEqual([200, 401, 404, 405]);
    const refused = await gateway.read(key);
    expect(refused.headers.get("ratelimit-policy")).toBe('"ip";q=4;w=3');
    expect(refused.headers.get("ratelimit")).toMatch(/^"ip";r=0;t=[1-3]$/);
    const seconds = await retryAfter(refused, /^Per-IP limit of 4 requests per 3 s exceeded; retry in [1-3] s$/);
    expect(seconds).toBeLessThanOrEqual(3);
    await pause(seconds * 1000);
    await success(gateway.read(key), 200);
  });

  test("it covers every operation, also the one that needs no key, unknown paths and wrong methods", async () => {
    await using gateway = await openGateway({ IP_RATE_LIMIT: "1/600s" });
    const { key } = await gateway.issue("acme");
    await success(gateway.read(key), 200);
    for (const operation of v1Operations) {
      const answer = await callOperation(gateway.url, operation, { authorization: `Bearer ${key}` });
      await retryAfter(answer, /per-ip limit/i);
    }
    for (const [method, path] of [
      ["GET", "/api/keys"],
      ["GET", "/nowhere"],
      ["PATCH", "/v1/documents"],
    ] as const) {
      await retryAfter(await fetch(gateway.url + path, { method }), /per-ip limit/i);
    }
  });

  test("5 rule 5: it comes before key validation: a flood of bad keys turns from 401 to 429", async () => {
    await using gateway = await openGateway({ IP_RATE_LIMIT: "10/600s" });
    const statuses = await statusesOf(15, () => gateway.read(forgedKey()));
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), ...Array.from({ length: 5 }, () => 429)]);
  });

  test("an X-Forwarded-For, Forwarded or X-Real-IP that the client wrote changes nothing", async () => {
    await using gateway = await openGateway({ IP_RATE_LIMIT: "6/600s" });
    const { key } = await gateway.issue("acme");
    let address = 0;
    const forged = () => {
      const ip = `192.0.2.${(address += 1)}`;
      return gateway.read(key, { "x-forwarded-for": `${ip}, 198.51.100.1`, forwarded: `for=${ip}`, "x-real-ip": ip });
    };
    const statuses = await statusesOf(8, forged);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
  });
});

describe("8: the ceiling of failed authentications per address", () => {
  test("a flood of bad keys turns from 401 to 429, and a valid key from the address still works", async () => {
    await using gateway = await openGateway({ AUTH_FAILURE_RATE_LIMIT: "20/3s" });
    const { key } = await gateway.issue("acme");
    const statuses = await flood(20, () => gateway.read(forgedKey()));
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 401));
    const refused = await gateway.read(forgedKey());
    expect(refused.headers.get("ratelimit-policy")).toBe('"auth-failures";q=20;w=3');
    const seconds = await retryAfter(refused, /failed authentications/);
    await success(gateway.read(key), 200);
    await success(gateway.push(key), 201);
    for (const headers of [{ "x-forwarded-for": "192.0.2.9" }, { authorization: "" }]) {
      expect((await gateway.read(forgedKey(), headers)).status).toBe(429);
    }
    await pause(seconds * 1000);
    await refusal(gateway.read(forgedKey()), 401, "UNAUTHORIZED");
  });

  test("valid keys do not use it up, nor does a missing scope", async () => {
    await using gateway = await openGateway({ AUTH_FAILURE_RATE_LIMIT: "2/600s" });
    const { key } = await gateway.issue("acme");
    const { secret } = await gateway.access.createApiKey(
      { tenantId: "acme", name: "x", scopes: ["phrases:read"] },
      asAdmin,
    );
    expect(await statusesOf(5, () => gateway.read(key))).toEqual([200, 200, 200, 200, 200]);
    expect(await statusesOf(5, () => gateway.read(secret))).toEqual([403, 403, 403, 403, 403]);
    expect(await statusesOf(3, () => gateway.read(forgedKey()))).toEqual([401, 401, 429]);
  });
});

describe("8: the write budget of a tenant", () => {
  test("past it a write is 429 and stores nothing, and succeeds once Retry-After has passed", async () => {
    await using gateway = await openGateway({ WRITE_BUDGET: "3/3s" });
    const { key } = await gateway.issue("acme");
    expect(await flood(3, () => gateway.push(key))).toEqual([201, 201, 201]);
    const draft = article();
    const refused = await gateway.push(key, draft);
    const seconds = await retryAfter(refused, /write budget/i);
    await pause(seconds * 1000);
    // 201 and not 409: the refused document was not stored.
    await success(gateway.push(key, draft), 201);
  });

  test("once it is used up, every operation is 429 but for those with GET", async () => {
    await using gateway = await openGateway({ WRITE_BUDGET: "1/600s" });
    const { key } = await gateway.issue("acme");
    await success(gateway.push(key), 201);
    for (const operation of v1Operations) {
      const answer = await callOperation(gateway.url, operation, { authorization: `Bearer ${key}` });
      if (operation.method === "GET") {
        expect(answer.status).not.toBe(429);
        await answer.arrayBuffer();
      } else {
        await retryAfter(answer, /write budget/i);
      }
    }
  });

  test("401 and 403 are not charged", async () => {
    await using gateway = await openGateway({ WRITE_BUDGET: "1/600s" });
    const { key } = await gateway.issue("acme");
    const { secret } = await gateway.access.createApiKey(
      { tenantId: "acme", name: "x", scopes: ["publisher:read"] },
      asAdmin,
    );
    expect(await statusesOf(3, () => gateway.push(secret))).toEqual([403, 403, 403]);
    expect(await statusesOf(3, () => gateway.push(forgedKey()))).toEqual([401, 401, 401]);
    await success(gateway.push(key), 201);
  });

  test("when a tenant's budget is used up, another tenant can spend its whole budget across two gateways", async () => {
    await using first = await openGateway({ WRITE_BUDGET: "2/600s" });
    await using second = await openGateway({ WRITE_BUDGET: "2/600s" }, first.database);
    const [acme, rival] = [await first.issue("acme"), await second.issue("rival")];
    expect(await statusesOf(3, () => first.push(acme.key))).toEqual([201, 201, 429]);
    await success(second.push(rival.key), 201);
    await success(first.push(rival.key), 201);
  });

  test.each([
    ["even traffic", (turn: number) => turn % 2],
    ["a tenth of the traffic at one of them", (turn: number) => (turn % 10 === 0 ? 1 : 0)],
    ["all traffic at one of them", () => 0],
    ["all traffic at one after the other", (turn: number) => (turn < 200 ? 1 : 0)],
  ])("two gateways together keep the budget to within a tenth: %s", async (_, gatewayOf) => {
    const limits = { WRITE_BUDGET: "600/60s" };
    await using first = await openGateway(limits);
    await using second = await openGateway(limits, first.database);
    const keys = [await first.issue("acme"), await second.issue("acme")];
    const [gateways, clients] = [[first, second], 8];
    let [sent, admitted, admittedAtFirstRefusal] = [0, 0, Number.POSITIVE_INFINITY];
    const client = async () => {
      while (sent < 900) {
        const turn = (sent += 1);
        const { status } = await gateways[gatewayOf(turn)]!.push(keys[(turn >> 1) % 2]!.key);
        expect([201, 429]).toContain(status);
        if (status === 201) admitted += 1;
        else admittedAtFirstRefusal = Math.min(admittedAtFirstRefusal, admitted);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    expect(admitted).toBeLessThanOrEqual(660);
    expect(admittedAtFirstRefusal).toBeGreaterThanOrEqual(540);
    expect(admittedAtFirstRefusal).toBeLessThanOrEqual(admitted);
  });
});
