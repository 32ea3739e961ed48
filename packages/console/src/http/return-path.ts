/** The path to open after signing in; `/` when the text is no path of the console. */
export function returnPath(text: string | null, origin: URL): string {
  if (text === null || !text.startsWith("/")) return "/";
  const url = URL.parse(text, origin);
  if (url === null || url.origin !== origin.origin) return "/";
  // A path of the form //host would lead to another host.
  return url.pathname.startsWith("//") ? "/" : url.pathname + url.search;
}
