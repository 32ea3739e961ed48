import { expect, test } from "vitest";
import { limitKey } from "./limit-key.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["192.0.2.7:51234", "198.51.100.1"],
  ["<script>", "198.51.100.1"],
  ["", "198.51.100.1"],
])("the address %s is counted as %s", (address, key) => {
  expect(limitKey(address, "198.51.100.1")).toBe(key);
});
