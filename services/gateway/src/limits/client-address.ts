import ipaddr from "ipaddr.js";
import { isIP, isIPv4 } from "node:net";

/**
 * The key under which limits count an address: an IPv4 address itself, also when it is mapped into
 * IPv6, and the /64 of an IPv6 address, because one subscriber has a whole /64. When a proxy's
 * header holds no address, the peer's address counts.
 */
export function limitKey(address: string, peer: string): string {
  // Most are, and every request is counted: to parse an address takes ten times as long.
  if (isIPv4(address)) return address;
  const parsed = parse(address) ?? parse(peer);
  if (!parsed) return "unknown";
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

function parse(text: string) {
  const [bare = ""] = text.split("%");
  return isIP(bare) ? ipaddr.process(bare) : undefined;
}
