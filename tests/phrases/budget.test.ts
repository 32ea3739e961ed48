import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openDictionary, phrasesOf } from "../support/dictionary.ts";

let stack: Constellation;

beforeAll(async () => {
  stack = await openConstellation({ mongoUrl: inject("mongoUrl"), env: { WRITE_BUDGET: "6/86400s" } });
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

const csv = (rows: number, language: string) =>
  ["language,phrase", ...Array.from({ length: rows }, (_, n) => `${language},ord ${n}`)].join("\r\n");

/** A new tenant, whose budget is whole. */
async function openTenant(tenantId: string): Promise<ReturnType<typeof openDictionary>> {
  const { gateway, grpc } = stack.dev;
  using access = openRpcClient(AccessService, { target: grpc.access, defaultTimeoutMs: 5_000 });
  const asAdmin = { headers: { "vidimus-role": "admin" } };
  await access.createTenant({ tenantId, name: tenantId }, asAdmin);
  const scopes = ["phrases:read", "phrases:write"];
  const { secret } = await access.createApiKey({ tenantId, name: "k", scopes }, asAdmin);
  return openDictionary(gateway, secret);
}

type Dictionary = Awaited<ReturnType<typeof openTenant>>;

/** How many single writes the tenant's budget still admits. */
async function writesLeft(dictionary: Dictionary): Promise<number> {
  for (let count = 0; ; count += 1) {
    const { status } = await dictionary.delete("x");
    if (status === 429) return count;
    expect(status).toBe(404);
  }
}

test("an import costs one write and one more for each 100 rows", async () => {
  const tenant = await openTenant("payer");
  expect((await tenant.import(csv(300, "sv"))).status).toBe(200);
  expect(await writesLeft(tenant)).toBe(2);
});

test("an import that costs more than the budget has left is refused whole, and costs one write", async () => {
  const tenant = await openTenant("refused");
  expect((await tenant.import(csv(300, "sv"))).status).toBe(200);
  const refused = await tenant.import(csv(300, "en"));
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe("RATE_LIMITED");
  expect(error.message).toContain("Write budget");
  expect(await phrasesOf(tenant.get("?language=en"))).toEqual([]);
  expect(await writesLeft(tenant)).toBe(1);
});

test("an import of 400 rows that validation refuses is refunded all but two of its five writes", async () => {
  const tenant = await openTenant("invalid");
  expect((await tenant.import(`${csv(399, "sv")}\r\nsv,`)).status).toBe(400);
  // One write for the request and one for up to 1,000 rows are spent.
  expect(await writesLeft(tenant)).toBe(4);
});

test("the blank rows of an import cost as much as others", async () => {
  const tenant = await openTenant("blank");
  expect((await tenant.import(`${csv(50, "sv")}${"\r\n".repeat(151)}`)).status).toBe(200);
  expect(await writesLeft(tenant)).toBe(3);
});

test("an import that costs more than the budget is accepted when none of it is spent, and spends it all", async () => {
  const tenant = await openTenant("large");
  expect((await tenant.import(csv(5_000, "sv"))).status).toBe(200);
  expect(await writesLeft(tenant)).toBe(0);
});
