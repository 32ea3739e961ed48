/** Titles are stored as JSON strings. Throws TypeError for other JSON. */
export function titleText(title: Uint8Array): string {
  const text: unknown = JSON.parse(Buffer.from(title).toString("utf8"));
  if (typeof text !== "string") throw new TypeError("a stored title is not a string");
  return text;
}
