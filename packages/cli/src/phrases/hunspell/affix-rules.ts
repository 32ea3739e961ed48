/** What the .aff file of a hunspell dictionary says about the flags of its words. */
export interface AffixRules {
  /** Splits the text after an entry's slash into flags. */
  flagsOf(text: string): readonly string[];
  /** Flag of words that are misspelled although the rules would accept them. */
  readonly forbidden: string | undefined;
  /** Flag of fragments, which are words only as part of compounds. */
  readonly onlyInCompound: string | undefined;
  /** Flag of stems, which are words only with an affix. */
  readonly needAffix: string | undefined;
}

/**
 * The encoding that a .aff file declares with SET, as `TextDecoder` names it; UTF-8 when it
 * declares none.
 *
 * @param bytes the file; read as Latin-1, because the line that begins with SET is ASCII in every
 * encoding of hunspell
 */
export function declaredEncoding(bytes: Uint8Array): string {
  const [, name = "utf-8"] =
    /^(?:\u00ef\u00bb\u00bf)?[\t ]*SET\s+(\S+)/m.exec(Buffer.from(bytes).toString("latin1")) ?? [];
  return name
    .replace(/^ISO8859/i, "ISO-8859")
    .replace(/^microsoft-cp/i, "windows-")
    .replace(/^TIS620-2533$/i, "tis-620");
}

export function readAffixRules(text: string): AffixRules {
  const lines = text.split(/\r?\n/).map((line) => line.trim().split(/\s+/));
  const valueOf = (...names: readonly string[]) => lines.find(([name = ""]) => names.includes(name))?.[1];
  // The first AF line states the number of those that follow; entries refer to these by numbers
  // from 1.
  const [, ...aliases] = lines.filter(([name]) => name === "AF").map(([, flags = ""]) => flags);
  const split = flagSplitter(valueOf("FLAG"));
  return {
    flagsOf: (text) => split(aliases.length === 0 ? text : (aliases[Number(text) - 1] ?? "")),
    forbidden: valueOf("FORBIDDENWORD"),
    onlyInCompound: valueOf("ONLYINCOMPOUND"),
    // PSEUDOROOT is the old name of NEEDAFFIX.
    needAffix: valueOf("NEEDAFFIX", "PSEUDOROOT"),
  };
}

/** @param type value of FLAG; with `UTF-8`, and without FLAG, each character is a flag */
function flagSplitter(type: string | undefined): (text: string) => readonly string[] {
  if (type === "long") return (text) => text.match(/.{1,2}/gsu) ?? [];
  if (type === "num") return (text) => text.split(",");
  return (text) => Array.from(text);
}
