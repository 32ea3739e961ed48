type PortRange = readonly [number, number];

/** Ports that endpoints may use unless DELIVERY_ALLOW_PORTS is set. */
export const portsByDefault = "443,8443";

/** Further ports that are added to `portsByDefault` while DELIVERY_ALLOW_HTTP is on. */
export const httpPortsByDefault = "80,8080";

/**
 * Makes the rule for ports that may be dialled, from a list of ports and ranges such as
 * `443,8000-8999`.
 *
 * @throws Error naming the first part that is neither
 */
export function createPortRule(list: string): (port: number) => boolean {
  const ranges = list.split(",").map((part) => parseRange(part.trim()));
  return (port) => ranges.some(([first, last]) => port >= first && port <= last);
}

function parseRange(text: string): PortRange {
  const [, from = "", to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (from !== "" && first >= 1 && first <= last && last <= 65_535) return [first, last];
  throw new Error(`must be a list of ports and ranges such as ${portsByDefault}, and "${text}" is neither`);
}
