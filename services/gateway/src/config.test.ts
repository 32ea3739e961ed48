import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const needed = { MONGODB_URL: "mongodb://db", NATS_URL: "nats://bus" };

test("limits, trusted proxies and public docs that are not set have their defaults", () => {
  expect(readConfig(needed)).toMatchObject({
    ipRate: { count: 3_000, windowMs: 60_000 },
    authFailureRate: { count: 300, windowMs: 60_000 },
    writeBudget: { count: 3_000, windowMs: 60_000 },
    trustedProxies: [],
    publicDocs: false,
  });
});

test.each([
  ["IP_RATE_LIMIT", "ipRate"],
  ["AUTH_FAILURE_RATE_LIMIT", "authFailureRate"],
  ["WRITE_BUDGET", "writeBudget"],
] as const)("%s=off means no limit", (setting, member) => {
  expect(readConfig({ ...needed, [setting]: "off" })[member]).toBeUndefined();
});

test("all bad settings are named in one error", () => {
  const bad = { MONGODB_URL: "mongodb://db", IP_RATE_LIMIT: "many", WRITE_BUDGET: "0/60s", DOCS: "yes" };
  expect(() => readConfig(bad)).toThrow(/NATS_URL[^]*IP_RATE_LIMIT[^]*WRITE_BUDGET[^]*DOCS/);
});

test.each(["1", "true", "127.0.0.1", "10.0.0.0/8,loopback", "*"])("TRUSTED_PROXIES=%s is refused", (text) => {
  expect(() => readConfig({ ...needed, TRUSTED_PROXIES: text })).toThrow(/TRUSTED_PROXIES/);
});

test.each([
  "0.0.0.0/0",
  "::/0",
  "10.0.0.0/8,0.0.0.0/1,128.0.0.0/1",
  "::/1,8000::/1",
  "::ffff:0:0/96",
  "2000::/3",
  "0.0.0.0/1, 128.0.0.0/2, 192.0.0.0/3",
  "::ffff:0.0.0.0/97,128.0.0.0/1",
])("TRUSTED_PROXIES=%s is refused, as it covers all IPv4 or IPv6 clients", (text) => {
  expect(() => readConfig({ ...needed, TRUSTED_PROXIES: text })).toThrow(/TRUSTED_PROXIES.*every address/);
});

test.each(["128.0.0.0/1", "0.0.0.0/1,192.0.0.0/3", "2000::/4", "fc00::/7,10.0.0.0/8,::1/128"])(
  "TRUSTED_PROXIES=%s is accepted, as it leaves some IPv4 and IPv6 clients out",
  (text) => {
    expect(readConfig({ ...needed, TRUSTED_PROXIES: text }).trustedProxies).toEqual(text.split(","));
  },
);

test("TRUSTED_PROXIES may have a space after a comma", () => {
  const { trustedProxies } = readConfig({ ...needed, TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" });
  expect(trustedProxies).toEqual(["10.0.0.0/8", "fd00::/8"]);
});
