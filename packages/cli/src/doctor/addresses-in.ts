/**
 * Reads a list like `gateway=http://host:9090,documents=http://host:9091` into a map from service
 * to address.
 */
export function addressesIn(list: string | undefined): ReadonlyMap<string, string> {
  return new Map((list ?? "").split(",").map(splitOnce));
}

function splitOnce(part: string): [string, string] {
  const at = part.indexOf("=");
  return [part.slice(0, at), part.slice(at + 1)];
}
