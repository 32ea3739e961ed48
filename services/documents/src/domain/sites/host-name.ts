/**
 * The normal form of a host name or IP address: lowercase, ASCII (IDNA), without port and final
 * dot. Undefined for anything else, such as a text with a scheme or a path.
 */
export function normalHost(text: string): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^\s\p{C}:/?#@\\%[\]]+)(?::\d{1,5})?$/iu.exec(text) ?? [];
  const bare = name?.replace(/\.$/, "");
  if (!bare || bare.split(".").includes("") || bare.length > 253) return undefined;
  if (!URL.canParse(`http://${bare}`)) return undefined;
  const { hostname } = new URL(`http://${bare}`);
  // The URL Standard also parses unusual spellings of IPv4 addresses, such as a single number; only
  // the usual one is accepted.
  return /^[\d.]+$/.test(hostname) && hostname !== bare ? undefined : hostname;
}
