import { expect, test } from "vitest";
import { proxyCheck } from "./trusted-proxies.ts";

const isProxy = proxyCheck(["10.0.0.0/8", "192.0.2.7/32", "fd00::/8", "::ffff:198.51.100.0/120"]);

test.each([
  ["10.1.2.3", true],
  ["::ffff:10.1.2.3", true],
  ["11.0.0.1", false],
  ["192.0.2.7", true],
  ["192.0.2.8", false],
  ["198.51.100.9", true],
  ["::ffff:198.51.100.9", true],
  ["198.51.101.9", false],
  ["fd12::1", true],
  ["fd12::1%eth0", true],
  ["fe80::1%eth0", false],
  ["2001:db8::1", false],
  ["<script>", false],
  ["", false],
])("%s counts as the address of a trusted proxy: %s", (address, expected) => {
  expect(isProxy(address)).toBe(expected);
});
