/** Controls but tab and line feed, and the marks that turn the direction of text around. */
const unprintable = /[[\p{Cc}\u202a-\u202e\u2066-\u2069]--[\t\n]]/gv;

/** Text from elsewhere, made harmless for a terminal: titles and messages cannot move its cursor or recolour it. */
export function printable(text: string): string {
  return text.replace(unprintable, "\ufffd");
}
