import ipaddr from "ipaddr.js";

/**
 * What a limit counts for an address: IPv4 as it is (also where it comes mapped into IPv6), IPv6 by its /64, which one
 * subscriber has. A proxy may hand on something that is no address: then the peer's counts.
 */
export function limitKey(address: string, peer: string): string {
  const parsed = parse(address) ?? parse(peer);
  if (!parsed) return "unknown";
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${parsed.toNormalizedString().split(":").slice(0, 4).join(":")}::/64`;
}

function parse(text: string) {
  const [bare = ""] = text.split("%");
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}
