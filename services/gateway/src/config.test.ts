import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const needed = { MONGODB_URL: "mongodb://db", NATS_URL: "nats://bus" };

test("limits have their defaults, and off is off", () => {
  expect(readConfig(needed)).toMatchObject({
    ipRate: { count: 3_000, windowMs: 60_000 },
    authFailureRate: { count: 300, windowMs: 60_000 },
    writeBudget: { count: 3_000, windowMs: 60_000 },
    trustedProxies: [],
    publicDocs: false,
  });
  expect(readConfig({ ...needed, WRITE_BUDGET: "off" }).writeBudget).toBeUndefined();
});

test("every bad setting is named at once", () => {
  const bad = { MONGODB_URL: "mongodb://db", IP_RATE_LIMIT: "many", WRITE_BUDGET: "0/60s", DOCS: "yes" };
  expect(() => readConfig(bad)).toThrow(/NATS_URL[^]*IP_RATE_LIMIT[^]*WRITE_BUDGET[^]*DOCS/);
});

test.each(["1", "true", "127.0.0.1", "10.0.0.0/8,loopback", "*"])("TRUSTED_PROXIES=%s stops the boot", (text) => {
  expect(() => readConfig({ ...needed, TRUSTED_PROXIES: text })).toThrow(/TRUSTED_PROXIES/);
});

test("TRUSTED_PROXIES is a list of ranges", () => {
  const { trustedProxies } = readConfig({ ...needed, TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" });
  expect(trustedProxies).toEqual(["10.0.0.0/8", "fd00::/8"]);
});
