import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openDictionary, phrasesOf } from "./support/dictionary.ts";

let stack: Constellation;

beforeAll(async () => {
  stack = await openConstellation({ mongoUrl: inject("mongoUrl"), env: { WRITE_BUDGET: "6/86400s" } });
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

const csv = (rows: number, language: string) =>
  ["language,phrase", ...Array.from({ length: rows }, (_, n) => `${language},ord ${n}`)].join("\r\n");

test("an import costs one write and one more for 100 rows; what the budget refuses wrote nothing", async () => {
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

  // Four of the import and one for asking are gone: one is left.
  expect((await demo.send("PUT", "", '{"language":"en","phrase":"a"}')).status).toBe(200);
  expect((await demo.send("PUT", "", '{"language":"en","phrase":"b"}')).status).toBe(429);
});

test("an import that is not valid costs one write, and one that outgrows the budget costs all of it", async () => {
  const { gateway, tenants } = stack.dev;
  const rival = openDictionary(gateway, tenants[1]!.apiKey);
  expect((await rival.import(`${csv(5_000, "sv")}\r\nsv,`)).status).toBe(400);
  expect((await rival.import(csv(400, "sv"))).status).toBe(200);
  expect((await rival.delete("x")).status).toBe(429);
});
