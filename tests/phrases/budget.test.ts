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

test("an import costs one write and one more for each 100 rows, or writes nothing", async () => {
  const { gateway, tenants } = stack.dev;
  const demo = openDictionary(gateway, tenants[0]!.apiKey);
  expect((await demo.import(csv(300, "sv"))).status).toBe(200);

  const refused = await demo.import(csv(300, "en"));
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe("RATE_LIMITED");
  expect(error.message).toContain("Write budget");
  expect(await phrasesOf(demo.get("?language=en"))).toEqual([]);

  // The import has cost four writes and the refused one has cost one, so one is left.
  expect((await demo.send("PUT", "", '{"language":"en","phrase":"a"}')).status).toBe(200);
  expect((await demo.send("PUT", "", '{"language":"en","phrase":"b"}')).status).toBe(429);
});

test("an import that validation refuses is refunded all but two writes; blank rows count as rows", async () => {
  const { gateway, tenants } = stack.dev;
  const rival = openDictionary(gateway, tenants[1]!.apiKey);
  const refused = await rival.import(`${csv(250, "sv")}\r\nsv,${"\r\n".repeat(149)}`);
  expect(refused.status).toBe(400);
  // One write for the request and one for up to 1,000 rows are spent: four are left.
  expect((await rival.import(`${csv(50, "sv")}${"\r\n".repeat(151)}`)).status).toBe(200);
  expect((await rival.delete("x")).status).toBe(404);
  expect((await rival.delete("x")).status).toBe(429);
});

test("an import larger than the budget is accepted, and costs all of it", async () => {
  const { gateway, grpc } = stack.dev;
  using access = openRpcClient(AccessService, { target: grpc.access, defaultTimeoutMs: 5_000 });
  const asAdmin = { headers: { "vidimus-role": "admin" } };
  await access.createTenant({ tenantId: "large", name: "large" }, asAdmin);
  const { secret } = await access.createApiKey({ tenantId: "large", name: "k", scopes: ["phrases:write"] }, asAdmin);
  const large = openDictionary(gateway, secret);
  expect((await large.import(csv(5_000, "sv"))).status).toBe(200);
  expect((await large.delete("x")).status).toBe(429);
});
