import type { AffixRules } from "./affix-rules.ts";

interface DictionaryWord {
  readonly text: string;
  readonly forbidden: boolean;
  /** Number of the first line with this word, from 1. */
  readonly at: number;
}

/** How many lines are not imported, and why. */
export interface LeftOut {
  comments: number;
  /** Fragments, which are words only as a part of compounds. */
  fragments: number;
  /** Stems, which are words only with an affix. */
  stems: number;
  duplicates: number;
}

/** The words of a dictionary, without the forms that affixes would add. */
interface Dictionary {
  readonly words: readonly DictionaryWord[];
  readonly leftOut: LeftOut;
  /** Number of entries with flags. Without a .aff file their meaning is unknown. */
  readonly flagged: number;
}

/**
 * Reads the text of a hunspell .dic file. Entries with the same word become one, forbidden if any
 * of them is.
 *
 * @param rules of the .aff file; undefined without one
 */
export function readDictionary(text: string, rules: AffixRules | undefined): Dictionary {
  const words = new Map<string, DictionaryWord>();
  const leftOut: LeftOut = { comments: 0, fragments: 0, stems: 0, duplicates: 0 };
  let flagged = 0;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const isCount = index === 0 && /^\d+\s*$/.test(line);
    if (isCount || line.trim() === "") continue;
    // Hunspell has no comments. But a line that begins with a tab has only morphological fields and
    // no word, and dictionaries write their licence in such lines, or in lines that begin with `#`.
    if (/^[\t#]/.test(line)) {
      leftOut.comments += 1;
      continue;
    }
    const entry = readEntry(line);
    if (entry.word === "") continue;
    if (entry.flags !== "") flagged += 1;
    const flags = rules?.flagsOf(entry.flags) ?? [];
    const has = (flag: string | undefined) => flag !== undefined && flags.includes(flag);
    const forbidden = has(rules?.forbidden);
    if (!forbidden && has(rules?.onlyInCompound)) leftOut.fragments += 1;
    else if (!forbidden && has(rules?.needAffix)) leftOut.stems += 1;
    else {
      const before = words.get(entry.word);
      if (before) leftOut.duplicates += 1;
      words.set(entry.word, {
        text: entry.word,
        forbidden: forbidden || (before?.forbidden ?? false),
        at: before?.at ?? index + 1,
      });
    }
  }
  return { words: [...words.values()], leftOut, flagged };
}

/**
 * Reads an entry: a word, its flags after a slash that is not escaped, then morphological fields.
 */
function readEntry(line: string): { word: string; flags: string } {
  const [entry = ""] = line.split(/\t|\s+(?=[a-z]{2}:)/);
  const slash = /(?<!\\)\//.exec(entry)?.index ?? entry.length;
  const word = entry.slice(0, slash).replaceAll("\\/", "/").normalize("NFC").trim();
  const [flags = ""] = entry.slice(slash + 1).split(/\s/);
  return { word, flags };
}
