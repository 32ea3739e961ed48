/** A member of a dictionary: a string, or bytes in base64. */
const member = /([a-z]+)=(?:"([^"\\]*)"|:([A-Za-z0-9+/]*={0,2}):)/;
const dictionary = new RegExp(`^${member.source}(?: *, *${member.source})*$`);

/**
 * Reads a dictionary of RFC 9651 whose keys are small letters, and whose members are byte sequences
 * or strings without escapes; `Vidimus-Trust-Signature` has no others. Bytes stay base64.
 *
 * @returns undefined for any other text
 */
export function parseDictionary(text: string): ReadonlyMap<string, string> | undefined {
  if (!dictionary.test(text)) return undefined;
  const members = text.matchAll(new RegExp(member, "g"));
  return new Map(Array.from(members, ([, name = "", string, base64 = ""]) => [name, string ?? base64]));
}
