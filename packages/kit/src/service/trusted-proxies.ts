import type { EnvReader } from "../env.ts";
import ipaddr from "ipaddr.js";
import { BlockList, isIP } from "node:net";

interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Addresses that clients can have: unicast IPv4, mapped into IPv6 as `::ffff:a.b.c.d`, and global
 * unicast IPv6.
 */
const clientSpaces: readonly AddressRange[] = [
  { first: toNumber(ipaddr.parse("1.0.0.0")), last: toNumber(ipaddr.parse("223.255.255.255")) },
  toRange("2000::/3"),
];

/**
 * Reads the CIDR ranges of a setting, and reports a fault for anything else. A hop count and `true`
 * are refused because they do not say which peers are proxies. Ranges that together cover every
 * address that clients of IPv4 or IPv6 can have are refused too, because each client could then
 * choose the address by which it is limited.
 */
export function readTrustedProxies(env: EnvReader, name: string): string[] {
  const ranges = (env.optional(name) ?? "").split(",").map((range) => range.trim());
  const given = ranges.filter((range) => range !== "");
  const odd = given.filter((range) => !ipaddr.isValidCIDR(range));
  for (const range of odd) env.fault(`${name} must be a list of CIDR ranges, "${range}" is none`);
  if (odd.length === 0 && coverEveryClient(given)) {
    env.fault(`${name} covers every address, so any client could choose its own; name the proxies' ranges only`);
  }
  return given;
}

/**
 * Makes a function that tells whether an address belongs to a proxy. Uses Node's BlockList, which
 * is native; Fastify's own check parses each address in JavaScript.
 *
 * @param ranges as `readTrustedProxies` returns them
 */
export function proxyCheck(ranges: readonly string[]): (address: string) => boolean {
  const proxies = new BlockList();
  for (const range of ranges) {
    const [address, prefix] = ipaddr.parseCIDR(range);
    const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefix >= 96;
    if (isMapped) proxies.addSubnet(address.toIPv4Address().toString(), prefix - 96, "ipv4");
    else proxies.addSubnet(address.toString(), prefix, address.kind());
  }
  return (address) => {
    const [bare = ""] = address.split("%");
    const family = isIP(bare);
    return family !== 0 && proxies.check(bare, family === 4 ? "ipv4" : "ipv6");
  };
}

function coverEveryClient(ranges: readonly string[]): boolean {
  const sorted = ranges.map(toRange).toSorted((a, b) => (a.first < b.first ? -1 : 1));
  return clientSpaces.some((space) => isCovered(space, sorted));
}

/** Whether ranges, sorted by their first address, cover a space without a gap. */
function isCovered({ first, last }: AddressRange, sorted: readonly AddressRange[]): boolean {
  let next = first;
  for (const range of sorted) {
    if (range.first > next) return false;
    if (range.last >= next) next = range.last + 1n;
    if (next > last) return true;
  }
  return false;
}

function toRange(cidr: string): AddressRange {
  const [address, prefix] = ipaddr.parseCIDR(cidr);
  const freeBits = BigInt((address.kind() === "ipv4" ? 32 : 128) - prefix);
  const first = (toNumber(address) >> freeBits) << freeBits;
  return { first, last: first + (1n << freeBits) - 1n };
}

function toNumber(address: ipaddr.IPv4 | ipaddr.IPv6): bigint {
  const mapped = address instanceof ipaddr.IPv4 ? address.toIPv4MappedAddress() : address;
  return BigInt(`0x${Buffer.from(mapped.toByteArray()).toString("hex")}`);
}
