/**
 * A longer path does not fit into the cookie that keeps it while the person signs in at the issuer.
 */
const pathMax = 1_500;

/** The path to open after signing in; `/` when the text is no path of the console, or too long. */
export function returnPath(text: string | null, origin: URL): string {
  if (text === null || !text.startsWith("/") || text.length > pathMax) return "/";
  const url = URL.parse(text, origin);
  if (url === null || url.origin !== origin.origin) return "/";
  // A path of the form //host would lead to another host.
  return url.pathname.startsWith("//") ? "/" : url.pathname + url.search;
}
