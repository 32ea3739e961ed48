/** A member of a dictionary: a string or bytes, as it is written. */
const member = /([a-z]+)=(?:"([^"\\]*)"|:([A-Za-z0-9+/]*={0,2}):)/;
const dictionary = new RegExp(`^${member.source}(?: *, *${member.source})*$`);

/**
 * Reads a dictionary of RFC 9651 whose members are strings without escapes and byte sequences, which
 * is all that the platform writes. Bytes stay base64.
 *
 * @returns undefined when the text is another one
 */
export function parseDictionary(text: string): ReadonlyMap<string, string> | undefined {
  if (!dictionary.test(text)) return undefined;
  const members = text.matchAll(new RegExp(member, "g"));
  return new Map(Array.from(members, ([, name = "", string, base64 = ""]) => [name, string ?? base64]));
}
