import { describe, expect, it } from "vitest";
import { createAddressRule, parseCidrs } from "./address-rules.ts";

const refused = [
  ["this network", ["0.0.0.0", "0.1.2.3", "0.255.255.255"]],
  ["private", ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"]],
  ["carrier-grade NAT", ["100.64.0.0", "100.100.100.200", "100.127.255.255"]],
  ["loopback", ["127.0.0.1", "127.0.0.53", "127.255.255.255"]],
  ["link-local and cloud metadata", ["169.254.0.1", "169.254.169.254", "169.254.170.2"]],
  ["Azure's platform", ["168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110"]],
  ["protocol assignments", ["192.0.0.1", "192.0.0.170", "192.0.0.255"]],
  ["documentation", ["192.0.2.1", "198.51.100.7", "203.0.113.9"]],
  ["AS112, AMT and 6to4 relays", ["192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1"]],
  ["benchmarking", ["198.18.0.1", "198.19.255.255"]],
  ["multicast", ["224.0.0.1", "239.255.255.250"]],
  ["reserved and broadcast", ["240.0.0.1", "254.1.1.1", "255.255.255.255"]],
  ["IPv6 unspecified and loopback", ["::", "::1"]],
  ["IPv4-compatible", ["::127.0.0.1", "::7f00:1", "::10.0.0.1", "::8.8.8.8", "::2"]],
  ["IPv4-mapped private", ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.1.2.3", "::ffff:a9fe:a9fe"]],
  ["IPv4-translated", ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"]],
  ["NAT64", ["64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1"]],
  ["6to4", ["2002::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1"]],
  [
    "Teredo, ORCHID and other assignments",
    ["2001::1", "2001:0:7f00:1::", "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1"],
  ],
  ["IPv6 documentation", ["2001:db8::1", "3fff::1", "3fff:fff::1"]],
  ["IPv6 AS112", ["2620:4f:8000::1"]],
  ["unique local, EC2 metadata among it", ["fc00::1", "fd00::1", "fd00:ec2::254", "fdff:ffff::1"]],
  ["IPv6 link-local and site-local", ["fe80::1", "febf::1", "fec0::1", "fe80::1%eth0"]],
  ["discard, SRv6 and IPv6 multicast", ["100::1", "100:0:0:1::1", "5f00::1", "ff02::1", "ff0e::1"]],
  ["unassigned", ["1::1", "1fff::1", "4000::1", "8000::1", "e000::1"]],
  [
    "not an address",
    ["", "localhost", "127.1", "0177.0.0.1", "0x7f000001", "2130706433", "1.2.3", "1.2.3.4.5", "[::1]", "8.8.8.8%eth0"],
  ],
] as const;

const allowed = [
  ["8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1"],
  ["169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.1", "192.167.255.255"],
  ["192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "203.0.114.0", "223.255.255.255"],
  ["2000::1", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111", "2620:4f:8001::1", "2a00:1450::1"],
  ["3ffe::1", "3fff:1000::1", "::ffff:8.8.8.8", "::ffff:808:808"],
].flat();

describe("without opened ranges", () => {
  const mayDial = createAddressRule([]);

  it.each(refused.flatMap(([range, addresses]) => addresses.map((address) => [address, range] as const)))(
    "%j is refused (%s)",
    (address) => {
      expect(mayDial(address)).toBe(false);
    },
  );

  it.each(allowed)("%s may be dialled", (address) => {
    expect(mayDial(address)).toBe(true);
  });
});

describe("with opened ranges", () => {
  const mayDial = createAddressRule(["127.0.0.0/8", "::1/128", "10.20.0.0/16", "fd12::/16"]);

  it.each(["127.0.0.1", "::ffff:127.0.0.1", "::1", "10.20.30.40", "fd12:3::4", "8.8.8.8"])(
    "%s may be dialled",
    (address) => {
      expect(mayDial(address)).toBe(true);
    },
  );

  it.each(["10.21.0.1", "169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "fd13::1", "::2"])(
    "%s stays refused",
    (address) => {
      expect(mayDial(address)).toBe(false);
    },
  );
});

it.each(["10.0.0.0", "10.0.0.0/33", "::1/129", "private", "10.0.0.0/8 ", ""])("%j is not a range", (text) => {
  expect(() => parseCidrs(["127.0.0.0/8", text])).toThrow(`"${text}" is none`);
});

describe("with refused ranges inside public and opened ones", () => {
  const allow = ["10.20.0.0/16", "64:ff9b::/96", "64:ff9b:1::/48"];
  const mayDial = createAddressRule(allow, ["10.20.30.0/24", "8.8.0.0/16", "2001:4860::/32", "::ffff:1.1.1.0/120"]);

  it.each([
    "10.20.30.1",
    "8.8.8.8",
    "::ffff:8.8.8.8",
    "::ffff:a14:1e01",
    "2001:4860:4860::8888",
    "1.1.1.1",
    "::ffff:1.1.1.1",
    "64:ff9b::808:808",
    "64:ff9b::a14:1e01",
  ])("%s is refused", (address) => {
    expect(mayDial(address)).toBe(false);
  });

  it.each(["10.20.31.1", "9.9.9.9", "2606:4700::1111", "1.1.2.1", "64:ff9b::909:909"])(
    "%s, outside of the refused ranges, may be dialled",
    (address) => {
      expect(mayDial(address)).toBe(true);
    },
  );
});
