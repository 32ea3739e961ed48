import ipaddr from "ipaddr.js";
import { isIP, isIPv4 } from "node:net";

/**
 * The key by which limits count an address: an IPv4 address itself, also when it is mapped into
 * IPv6, and the /64 of an IPv6 address, because one subscriber has a whole /64.
 *
 * @param address of the client; from a trusted proxy's `X-Forwarded-For` it may be any text
 * @param peer address of the connection, used when `address` is not an IP address
 */
export function limitKey(address: string, peer: string): string {
  // The common case is handled first, because every request is counted and parsing an address takes
  // over ten times as long.
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
