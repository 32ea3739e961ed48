/** Control characters but tab and line feed, and embeddings, overrides and isolates of direction. */
const unprintable = /[[\p{Cc}\u202a-\u202e\u2066-\u2069]--[\t\n]]/gv;

/**
 * Replaces control characters, so that foreign titles and messages cannot move the cursor or change
 * colours of a terminal.
 */
export function printable(text: string): string {
  return text.replace(unprintable, "\ufffd");
}
