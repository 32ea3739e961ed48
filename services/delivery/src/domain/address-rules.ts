import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Cidr = [Address, number];

/**
 * Special-purpose IPv4 ranges (IANA registry): this network, private, carrier-grade NAT, loopback,
 * link-local (including cloud metadata), protocol assignments, documentation, AS112, AMT, 6to4
 * relays, benchmarking, multicast, reserved. Also a public address that Azure uses for its
 * platform.
 */
const specialV4 = parseCidrs([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);

/**
 * The IPv6 range for public hosts. Outside are loopback, `::/96`, NAT64 (64:ff9b::/96,
 * 64:ff9b:1::/48), unique local, link-local, site-local, SRv6 (5f00::/16), discard and multicast.
 */
const globalV6 = parseCidrs(["2000::/3"]);

/**
 * Special-purpose ranges in `globalV6`: protocol assignments (Teredo, ORCHID), documentation, 6to4,
 * AS112.
 */
const specialV6 = parseCidrs(["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"]);

/**
 * Parses ranges such as `10.0.0.0/8` or `::1/128`.
 *
 * @throws Error naming the first that is not a range
 */
export function parseCidrs(texts: readonly string[]): readonly Cidr[] {
  return texts.map((text) => {
    if (!ipaddr.isValidCIDR(text)) throw new Error(`must be a list of CIDR ranges, and "${text}" is none`);
    return unmapped(ipaddr.parseCIDR(text));
  });
}

/**
 * Addresses that are IPv4-mapped are compared as IPv4 addresses, so a range of IPv4-mapped
 * addresses becomes an IPv4 range.
 */
function unmapped([address, bits]: Cidr): Cidr {
  if (!isV6(address) || !address.isIPv4MappedAddress() || bits < 96) return [address, bits];
  return [address.toIPv4Address(), bits - 96];
}

/**
 * Makes the rule for addresses that may be dialled: public unicast ones and those in `allowCidrs`,
 * but none in `denyCidrs`. An IPv4 range in `denyCidrs` also refuses its addresses behind NAT64
 * (64:ff9b::/96). All other addresses of 64:ff9b::/96 are dialled only when an IPv6 range in
 * `allowCidrs` contains them.
 *
 * @returns a function that takes an IPv4 or IPv6 address without brackets or zone, and returns
 * false for anything else
 */
export function createAddressRule(
  allowCidrs: readonly string[],
  denyCidrs: readonly string[] = [],
): (address: string) => boolean {
  const opened = parseCidrs(allowCidrs);
  const closed = parseCidrs(denyCidrs);
  return (text) => {
    const parsed = parseAddress(text);
    if (!parsed) return false;
    const address = isV6(parsed) && parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed;
    if (within(address, closed) || within(behindNat64(address), closed)) return false;
    return within(address, opened) || isPublic(address);
  };
}

const [nat64] = parseCidrs(["64:ff9b::/96"]);

/**
 * The IPv4 address to which a NAT64 gateway translates an address of 64:ff9b::/96; any other
 * address unchanged.
 */
function behindNat64(address: Address): Address {
  const isBehind = nat64 !== undefined && within(address, [nat64]);
  return isBehind ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

function parseAddress(text: string): Address | undefined {
  // ipaddr.js's `isValid` also accepts octal, hex and short IPv4 forms, which resolvers and WHATWG
  // URLs never return.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // ipaddr.js would parse `::8.8.8.8`, a resolver's form of the special `::808:808`, as the
  // IPv4-mapped `::ffff:8.8.8.8`, which is public. A URL writes the address in hex.
  const groups = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  return groups && ipaddr.IPv6.isValid(groups) ? ipaddr.IPv6.parse(groups) : undefined;
}

function isPublic(address: Address): boolean {
  if (isV6(address)) return within(address, globalV6) && !within(address, specialV6);
  return !within(address, specialV4);
}

function isV6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === "ipv6";
}

function within(address: Address, ranges: readonly Cidr[]): boolean {
  return ranges.some((range) => range[0].kind() === address.kind() && address.match(range));
}
