/**
 * Fails when a name or prose has a word that the vocabulary of STYLE.md refuses in its column
 * "Not", when a file or folder has a name that says nothing, and when a test title is too long.
 * Names are identifiers of programs and file names. Prose is Markdown, test titles, comments, and
 * the strings of programs that are not tests.
 */
import { readFileSync } from "node:fs";
import { listedFiles } from "./listed-files.ts";

interface Rule {
  /** As in STYLE.md. */
  readonly word: string;
  /** Finds the word in a name, whose words are in lowercase with spaces between them. */
  readonly name?: RegExp;
  readonly prose?: RegExp;
  /** Paths of the files in which the word is refused; all by default. */
  readonly files?: RegExp;
}

/** The folders of a service whose code gets what it needs as `deps`. */
const withDeps = /^services\/[^/]+\/src\/(?:domain|endpoints|rpc|store)\//;
const notTests = /^(?!tests\/|.*\/test\/|.*\.test\.ts$)/;

/** Words behind which "room" means capacity. */
const before = "(?:ha(?:d|s|ve)|lacks?|(?:leav|mak)(?:es?|ing)|made|needs?|no|takes?|without)";

/** A word that has a right meaning, too, is refused only in phrases: "live" in "live version". */
const rules: readonly Rule[] = [
  rule("give back", String.raw`\b(?:give[ns]?|giving|gave)(?: \w+){0,2} back\b`),
  rule("hurry", String.raw`\bhurr(?:y|ie[ds]|ying)\b`),
  rule("judge", String.raw`\bjudg(?:e[ds]?|ing)\b`),
  rule("let go", String.raw`\blet(?:s|ting)? go\b`),
  rule("live", String.raw`\blive (?:version|document)s?\b`),
  rule("move", String.raw`\bmov(?:e[ds]?|ing) (?:(?:an?|its|the|their) )?(?:document|version)s?\b`),
  rule("notary", String.raw`\bnotar(?:y|ies)\b`),
  rule("put off", String.raw`\bput(?:s|ting)?(?: \w+){0,2} off\b`),
  rule("schema", String.raw`\bschema version\b`),
  // A call's context is not its deps, so `callContext` and `handlerContext` are right.
  { word: "context", name: /^(?!call |handler ).+ context$|^ctx$/, files: withDeps },
  { word: "env", name: /\benv\b/, files: withDeps },
  { word: "ingest", name: /\bingest/, files: /^services\/(?!delivery\/)/ },
  { word: "intake", name: /\bintake\b/, files: /^services\/delivery\// },
  // "In place" is a term of JSON Schema.
  { word: "place", name: /(?<!\bin )\bplace[ds]?\b/ },
  // Tests may call a newsroom `room`.
  { word: "room", name: /^room$/, files: notTests },
  { word: "room", name: /\b(?:has|have|make|no|note|out|wait for|without) room\b|^room of\b/ },
  { word: "room", prose: inProse(String.raw`\b${before} room\b|\broom (?:at|for)\b`) },
];

/** Names that say nothing about what is in a file or folder. */
const emptyName = /(?:^|-)(?:utils?|helpers?|managers?|common)$/;
/** Allowed: a product, and a function that lowers the priority of V8's helper threads. */
const toldNames: ReadonlySet<string> = new Set(["cert-manager", "lower-helpers"]);
const titleCharactersMax = 100;

/**
 * A comment, a string or a regular expression. Comments of one line that follow each other are one.
 */
const token = new RegExp(
  [
    String.raw`\/\/.*(?:\n[ \t]*\/\/.*)*`,
    String.raw`\/\*[^]*?\*\/`,
    String.raw`"(?:\\.|[^"\\\n])*"`,
    String.raw`'(?:\\.|[^'\\\n])*'`,
    "`(?:\\\\[^]|[^`\\\\])*`",
    String.raw`(?<=(?:[=(,:!&|?[{;>\n]|return)[ \t]*)\/(?![*\/ ])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^\/\\[\n])+\/`,
  ].join("|"),
  "g",
);

/** From a name's words to the rules that fit. Kept, because most names come often. */
const verdicts = new Map<string, readonly Rule[]>();

const files = listedFiles().filter((file) => !/^(?:packages\/contracts\/gen|proto\/google)\//.test(file));
const faults = [...unknownWords(), ...files.flatMap(faultsOf)];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;

function unknownWords(): string[] {
  const rows = readFileSync("STYLE.md", "utf8").matchAll(/^\|[^|]*\|[^|]*\|([^|]*)\|$/gm);
  const words = [...rows].flatMap(([, cell = ""]) => cell.split(",").map((word) => word.trim()));
  return words
    .filter((word) => /^[a-z]/.test(word) && !rules.some((known) => known.word === word))
    .map((word) => `STYLE.md refuses "${word}", for which scripts/check-words.ts has no rule`);
}

function faultsOf(file: string): string[] {
  const isEmpty = file.split("/").some((part) => isEmptyName(part.split(".")[0] ?? ""));
  const named = [...(isEmpty ? ["says nothing"] : []), ...refusedNames(file, file.replaceAll(/[/_.-]+/g, " "))];
  return [...named.map((what) => `${file}: its name ${what}`), ...faultsInside(file)];
}

function isEmptyName(name: string): boolean {
  return emptyName.test(name) && !toldNames.has(name);
}

function faultsInside(file: string): string[] {
  const read = () => readFileSync(file, "utf8");
  if (file === "STYLE.md" || file.startsWith("scripts/check-words.")) return [];
  if (/\.(?:ts|js|mjs)$/.test(file)) return faultsOfProgram({ file, text: read() });
  if (file.endsWith(".md")) return refusedProse({ file, text: read() }, "text", read(), 0);
  if (/\.(?:proto|css)$/.test(file)) return faultsOfComments({ file, text: read() }, token);
  if (file.endsWith(".yaml")) return faultsOfComments({ file, text: read() }, /(?<=^|\s)#.*(?:\n[ \t]*#.*)*/gm);
  return [];
}

interface Source {
  readonly file: string;
  readonly text: string;
}

function faultsOfComments(source: Source, comment: RegExp): string[] {
  return [...source.text.matchAll(comment)].flatMap(({ 0: text, index }) =>
    /^["'`]/.test(text) ? [] : refusedProse(source, "comment", withoutMarks(text), index),
  );
}

function faultsOfProgram(source: Source): string[] {
  const { file, text } = source;
  const isTest = /(?:^|\/)tests?\/|\.test\.ts$/.test(file);
  const code = text.replaceAll(token, blank);
  const names = [...code.matchAll(/[A-Za-z_$][\w$]*/g)].flatMap(({ 0: name, index }) =>
    refusedNames(file, spaced(name)).map((what) => `${at(source, index)}: the name ${name} ${what}`),
  );
  const prose = [...text.matchAll(token)].flatMap(({ 0: found, index }) => {
    if (/^\/[/*]/.test(found)) return refusedProse(source, "comment", withoutMarks(found), index);
    return isTest || found.startsWith("/") ? [] : refusedProse(source, "string", found, index);
  });
  return [...names, ...prose, ...(file.endsWith(".test.ts") ? faultsOfTitles(source, code) : [])];
}

/** A token of a program as spaces, but for the quotes of a string and the code in a template. */
function blank(found: string): string {
  const spaces = (text: string) => text.replaceAll(/[^\n]/g, " ");
  if (found.startsWith("/")) return spaces(found);
  const inner = found.slice(1, -1).replaceAll(/\$\{[^}]*\}|[^\n]/g, (part) => (part.length > 1 ? part : " "));
  return `${found[0]}${inner}${found.at(-1)}`;
}

function faultsOfTitles(source: Source, code: string): string[] {
  return [...code.matchAll(/^[ \t]*(?:it|test|describe)\b/gm)].flatMap(({ 0: begin, index }) => {
    const start = titleAt(code, index + begin.length);
    if (start === undefined) return [];
    const title = source.text.slice(start, code.indexOf(code[start - 1] ?? "", start));
    const isLong = title.length > titleCharactersMax;
    const length = isLong ? [`${at(source, start)}: the title has ${title.length} characters, and may have 100`] : [];
    return length.concat(refusedProse(source, "title", title, start));
  });
}

/**
 * Where the title of a test begins: in the first parentheses behind `from` that begin with a
 * string.
 */
function titleAt(code: string, from: number): number | undefined {
  const titled = /\(\s*["'`]/y;
  const modifier = /\.\w+|<[^]*?>(?=\()|`[^`]*`/y;
  for (let position = from; ;) {
    titled.lastIndex = modifier.lastIndex = position;
    if (titled.test(code)) return titled.lastIndex;
    if (modifier.test(code)) position = modifier.lastIndex;
    else if (code[position] === "(") position = endOfParentheses(code, position);
    else return undefined;
  }
}

function endOfParentheses(code: string, begin: number): number {
  let depth = 0;
  for (let position = begin; position < code.length; position += 1) {
    if (code[position] === "(") depth += 1;
    if (code[position] === ")") depth -= 1;
    if (depth === 0) return position + 1;
  }
  return code.length;
}

/** @param words of the name, in lowercase with spaces between them */
function refusedNames(file: string, words: string): string[] {
  const known = verdicts.get(words) ?? rules.filter(({ name }) => name?.test(words));
  verdicts.set(words, known);
  return known.filter((each) => each.files?.test(file) ?? true).map(refusal);
}

function refusedProse(source: Source, what: string, text: string, offset: number): string[] {
  return rules.flatMap((each) =>
    each.prose === undefined
      ? []
      : Array.from(
          text.matchAll(each.prose),
          ({ index }) => `${at(source, offset + index)}: the ${what} ${refusal(each)}`,
        ),
  );
}

function refusal({ word }: Rule): string {
  return `has "${word}", which STYLE.md refuses`;
}

function rule(word: string, pattern: string): Rule {
  return { word, name: new RegExp(pattern), prose: inProse(pattern) };
}

/** A space of the pattern is found as any space, and as one line end. */
function inProse(pattern: string): RegExp {
  return new RegExp(pattern.replaceAll(" ", String.raw`(?:[ \t]+|[ \t]*\n[ \t]*)`), "gi");
}

/** A comment with spaces instead of the marks at the beginning of its lines. */
function withoutMarks(comment: string): string {
  return comment.replaceAll(/^[ \t]*(?:\/\*+|\/\/|\*(?!\/)|#)/gm, (mark) => " ".repeat(mark.length));
}

function spaced(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])|_/g, "$1 $2").toLowerCase();
}

function at({ file, text }: Source, index: number): string {
  return `${file}:${text.slice(0, index).split("\n").length}`;
}
