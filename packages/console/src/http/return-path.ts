/** A longer one does not fit into the cookie that keeps it while its owner signs in elsewhere. */
const pathMax = 1_500;

/** Where to go after signing in: a path of the console, `/` for anything else. */
export function returnPath(text: string | null, origin: URL): string {
  if (text === null || !text.startsWith("/") || text.length > pathMax) return "/";
  const url = URL.parse(text, origin);
  if (url === null || url.origin !== origin.origin) return "/";
  // A path of the form //host leads elsewhere.
  return url.pathname.startsWith("//") ? "/" : url.pathname + url.search;
}
