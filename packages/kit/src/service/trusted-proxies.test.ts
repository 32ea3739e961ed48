import { expect, test } from "vitest";
import { proxyCheck } from "./trusted-proxies.ts";

const isProxy = proxyCheck(["10.0.0.0/8", "192.0.2.7/32", "fd00::/8", "::ffff:198.51.100.0/120"]);

test.each([
  "10.1.2.3",
  "::ffff:10.1.2.3",
  "192.0.2.7",
  "198.51.100.9",
  "::ffff:198.51.100.9",
  "fd12::1",
  "fd12::1%eth0",
])("%j counts as the address of a trusted proxy", (address) => {
  expect(isProxy(address)).toBe(true);
});

test.each(["11.0.0.1", "192.0.2.8", "198.51.101.9", "fe80::1%eth0", "2001:db8::1", "<script>", ""])(
  "%j does not count as the address of a trusted proxy",
  (address) => {
    expect(isProxy(address)).toBe(false);
  },
);
