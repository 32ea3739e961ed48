/**
 * The one form of a host name: lowercase, ASCII (IDNA), without a port and without the root's dot.
 * Undefined for a text that is none, such as one with a scheme or a path.
 */
export function normalHost(text: string): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^\s\p{C}:/?#@\\%[\]]+)(?::\d{1,5})?$/iu.exec(text) ?? [];
  const bare = name?.replace(/\.$/, "");
  if (!bare || bare.split(".").includes("") || bare.length > 253) return undefined;
  if (!URL.canParse(`http://${bare}`)) return undefined;
  const { hostname } = new URL(`http://${bare}`);
  // A number that the URL Standard reads as an address is an address only in its usual form.
  return /^[\d.]+$/.test(hostname) && hostname !== bare ? undefined : hostname;
}
