/**
 * The path and query of a request line (RFC 9112, section 3.2). An absolute form is served by its
 * path, whatever its host, because balancers decide which hosts come here. `*` becomes a path
 * without a route. Undefined for a malformed target, and for a path whose percent-escapes are not
 * UTF-8, because the router cannot decode it.
 */
export function readTarget(target: string): string | undefined {
  const [origin = ""] = /^https?:\/\/[^/?#]+/i.exec(target) ?? [];
  const rest = target.slice(origin.length);
  const url = target === "*" || (origin !== "" && !rest.startsWith("/")) ? `/${rest}` : rest;
  return url.startsWith("/") && isDecodable(pathOf(url)) ? url : undefined;
}

export function pathOf(target: string): string {
  return target.replace(/[?#].*$/s, "");
}

function isDecodable(path: string): boolean {
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}
