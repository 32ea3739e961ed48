/**
 * Fails when a name or prose has a word that the vocabulary of STYLE.md refuses in its column
 * "Not", when a file or folder has a name that says nothing, and when a test title is too long.
 * Names are identifiers and file names; prose is comments of programs, Markdown and test titles.
 * Comments of proto/ belong to the public contract and are not read.
 */
import { readFileSync } from "node:fs";
import { listedFiles } from "./listed-files.ts";

interface Rule {
  readonly name: RegExp;
  readonly prose: RegExp;
}

/**
 * From refused word to the patterns that find it in prose and in names. Names are matched with
 * spaces between their words. `room` is refused only where it means capacity, since a newsroom is
 * one, too.
 */
const rules: Readonly<Record<string, Rule>> = {
  "give back": rule(String.raw`\b(?:give[ns]?|giving|gave)(?: \w+){0,2} back\b`),
  hurry: rule(String.raw`\bhurr(?:y|ie[ds]|ying)\b`),
  judge: rule(String.raw`\bjudg(?:e[ds]?|ing)\b`),
  "let go": rule(String.raw`\blet(?:s|ting)? go\b`),
  notary: rule(String.raw`\bnotar(?:y|ies)\b`),
  "put off": rule(String.raw`\bput(?:s|ting)?(?: \w+){0,2} off\b`),
  room: {
    name: /\b(?:has|have|make|no|note|out|wait for|without) room\b|^room of\b/,
    prose:
      /\b(?:has|have|had|lacks?|leaves?|leaving|makes?|making|made|needs?|no|takes?|without) room\b|\broom (?:at|for)\b/i,
  },
};

/**
 * A line that does not match has no refused word. Most lines are cleared in this way, at a tenth of
 * the cost of the rules.
 */
const suspicious = /g[ai]v[ei]|hurr|judg|let|notar|put|room/i;

/** Refused words that also have a meaning which is right, so that only readers can tell. */
const leftToReaders: ReadonlySet<string> = new Set(["move", "live", "ingest", "intake", "schema", "context", "env"]);

/** Names that say nothing about what is in a file or folder. */
const emptyName = /^(?:utils?|helpers?|managers?|common)$/;
const titleCharactersMax = 100;

const files = listedFiles().filter((file) => !file.startsWith("packages/contracts/gen/"));
const faults = [...unknownWords(), ...files.flatMap(faultsOf)];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;

/** Words of STYLE.md's column "Not" that this check does not know. */
function unknownWords(): string[] {
  const rows = readFileSync("STYLE.md", "utf8").matchAll(/^\|[^|]*\|[^|]*\|([^|]*)\|$/gm);
  const words = [...rows].flatMap(([, cell = ""]) => cell.split(",").map((word) => word.trim()));
  return words
    .filter((word) => /^[a-z]/.test(word) && !Object.hasOwn(rules, word) && !leftToReaders.has(word))
    .map((word) => `STYLE.md refuses "${word}", for which scripts/check-words.ts has no rule`);
}

function faultsOf(file: string): string[] {
  const named = [
    ...(file.split("/").some((part) => emptyName.test(part.split(".")[0] ?? "")) ? ["says nothing"] : []),
    ...refused("name", file.replaceAll(/[/_.-]+/g, " ")),
  ].map((what) => `${file}: its name ${what}`);
  if (file.endsWith(".md")) return file === "STYLE.md" ? named : [...named, ...faultsOfProse(file)];
  if (!/\.(?:ts|js|mjs)$/.test(file) || file.startsWith("scripts/check-words.")) return named;
  return [...named, ...faultsOfProgram(file)];
}

function faultsOfProse(file: string): string[] {
  return lines(file).flatMap((line, index) =>
    refused("prose", line).map((what) => `${file}:${index + 1}: the text ${what}`),
  );
}

function faultsOfProgram(file: string): string[] {
  const found = lines(file).flatMap((line, index) => {
    const at = `${file}:${index + 1}`;
    if (/^\s*(?:\/\/|\/?\*)/.test(line)) return refused("prose", line).map((what) => `${at}: the comment ${what}`);
    if (!suspicious.test(line)) return [];
    const identifiers = line.replaceAll(/(["'`])(?:\\.|(?!\1).)*\1/g, "").match(/[A-Za-z_$][\w$]*/g) ?? [];
    return identifiers.flatMap((name) =>
      refused("name", spaced(name)).map((what) => `${at}: the name ${name} ${what}`),
    );
  });
  return file.endsWith(".test.ts") ? [...found, ...faultsOfTitles(file)] : found;
}

function faultsOfTitles(file: string): string[] {
  const title =
    /^[ \t]*(?:it|test|describe)(?:\.\w+(?:\([^\n]*?\)|\(\[[^]*?\]\))?)*\(\s*(["`])((?:\\.|(?!\1)[^])*)\1/gm;
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(title)].flatMap(({ 2: words = "", index }) => {
    const line = text.slice(0, index).split("\n").length;
    const length = words.length > titleCharactersMax ? [`has ${words.length} characters, and may have 100`] : [];
    return [...length, ...refused("prose", words)].map((what) => `${file}:${line}: the title ${what}`);
  });
}

function refused(where: keyof Rule, text: string): string[] {
  if (!suspicious.test(text)) return [];
  return Object.entries(rules).flatMap(([word, patterns]) =>
    patterns[where].test(text) ? [`has "${word}", which STYLE.md refuses`] : [],
  );
}

function rule(pattern: string): Rule {
  return { name: new RegExp(pattern), prose: new RegExp(pattern, "i") };
}

/** The words of an identifier, in lowercase with spaces between them. */
function spaced(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])|_/g, "$1 $2").toLowerCase();
}

function lines(file: string): string[] {
  return readFileSync(file, "utf8").split("\n");
}
