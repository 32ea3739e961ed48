import { expect, test } from "vitest";
import { limitKey } from "./limit-key.ts";

const peer = "198.51.100.1";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("the address %s is counted as %s", (address, key) => {
  expect(limitKey(address, peer)).toBe(key);
});

test.each(["192.0.2.7:51234", "<script>", ""])(
  "instead of %j, which is no address, the peer's address is counted",
  (text) => {
    expect(limitKey(text, peer)).toBe(peer);
  },
);
