/**
 * Fails when a Markdown file of the repository names something that does not exist:
 * - a linked file, or a path in backticks; `services/<name>/src/{http,rpc}` and `*` stand for any
 *   match, and `rpc/create-document.ts` is found wherever it ends a path;
 * - an npm script, a benchmark, or a command of `npx vidimus`;
 * - a test, as `path.test.ts`: "title", "another title", whose file has no such text;
 * - a compound name in backticks, such as `MONGODB_URL` or `ListDocuments`, that no source file
 *   contains. CHANGELOG.md is not read, because it also names what was removed.
 * Fails also when the README.md of a service has more than 40 lines, or a guide that the gateway
 * serves says `npx vidimus`: outside of the checkout `npx` would run a stranger's package.
 */
import { readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { listedFiles } from "./listed-files.ts";

const files = listedFiles();
const paths = new Set(files.flatMap(withFolders));
/** What prose may call a file or folder: its path, and each ending of its path. */
const endings = new Set([...paths].flatMap(endingsOf));
const roots = new Set(files.filter((file) => file.includes("/")).map((file) => file.split("/")[0]));
const scripts: Record<string, string> = JSON.parse(readFileSync("package.json", "utf8")).scripts;
const sources = files.filter((file) => /\.(ts|proto|json|conf)$/.test(file) && !file.startsWith("docs/"));
const names = new Set(sources.flatMap((file) => readFileSync(file, "utf8").match(/\w+/g) ?? []));

/** Names that Node, HTTP/2 and MongoDB define. */
const foreign = new Set(["NODE_OPTIONS", "REFUSED_STREAM", "INTERNAL_ERROR", "atClusterTime", "SnapshotTooOld"]);

const vidimusCommand = /(?:npx )?(?<![\w./@-])vidimus ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g;

const guides = new Set(servedGuides());
const documents = files.filter((file) => file.endsWith(".md") && file !== "CHANGELOG.md");
const faults = documents.flatMap((document) => {
  let fenced = false;
  return readFileSync(document, "utf8")
    .split("\n")
    .flatMap((line, index) => {
      if (line.trimStart().startsWith("```")) fenced = !fenced;
      const missing = [
        ...missingLinks(document, line),
        ...missingCommands(line),
        ...missingTests(line),
        ...(fenced ? [] : missingInCode(line)),
      ];
      const at = `${document}:${index + 1}`;
      const said = missing.map((name) => `${at}: ${name} does not exist`);
      if (guides.has(document) && line.includes("npx vidimus")) said.push(`${at}: say vidimus without npx`);
      return said;
    });
});

faults.push(...documents.filter((document) => matchesGlob(document, "services/*/README.md")).flatMap(tooLong));

for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;

function tooLong(document: string): string[] {
  const { length } = readFileSync(document, "utf8").trimEnd().split("\n");
  return length > 40 ? [`${document}: has ${length} lines, more than 40`] : [];
}

function servedGuides(): string[] {
  const source = readFileSync("services/gateway/src/api-docs/guides.ts", "utf8");
  const [, list] = /^const names = \[([^\]]+)\]/m.exec(source) ?? [];
  if (list === undefined) throw new Error("guides.ts of the gateway has no list `names`");
  return [...list.matchAll(/"([\w-]+)"/g)].map(([, name]) => `docs/${name}.md`);
}

function withFolders(file: string): string[] {
  const parts = file.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

function endingsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(index).join("/"));
}

function missingLinks(document: string, line: string): string[] {
  const targets = [...line.matchAll(/\]\(([^)#\s]+)/g)].map((match) => match[1] ?? "");
  return targets.filter((target) => !/^[a-z]+:/.test(target) && !paths.has(join(dirname(document), target)));
}

function missingCommands(line: string): string[] {
  const run = [...line.matchAll(/npm run ([a-z][\w:-]*)/g)].filter((match) => !scripts[match[1] ?? ""]);
  const bench = [...line.matchAll(/npm run bench -- ([a-z][\w-]*)/g)].filter(
    (match) => !paths.has(`bench/${match[1]}.ts`),
  );
  const vidimus = [...line.matchAll(vidimusCommand)].filter(([, noun, verb]) => {
    const path = `packages/cli/src/commands/${noun}`;
    return !paths.has(`${path}.ts`) && !paths.has(verb ? `${path}/${verb}.ts` : path);
  });
  return [...run, ...bench, ...vidimus].map((match) => match[0]);
}

function missingTests(line: string): string[] {
  return [...line.matchAll(/`([\w./-]+\.test\.ts)`: ((?:"[^"]+"(?:, )?)+)/g)].flatMap(([, path = "", titles = ""]) => {
    const source = paths.has(path) ? readFileSync(path, "utf8") : "";
    return [...titles.matchAll(/"([^"]+)"/g)].flatMap(([title, text = ""]) => (source.includes(text) ? [] : [title]));
  });
}

function missingInCode(line: string): string[] {
  const words = [...line.matchAll(/`([^`]+)`/g)].flatMap((match) => (match[1] ?? "").split(/\s+/));
  return words.flatMap((word) => {
    if (isPath(word)) return pathExists(word) ? [] : [word];
    return (word.match(/\w+/g) ?? []).filter((name) => isCompound(name) && !names.has(name) && !foreign.has(name));
  });
}

function isPath(word: string): boolean {
  if (!/^[\w.<>{}*,-][\w./<>{}*,-]*$/.test(word)) return false;
  return /\.(ts|proto|md|yaml)$/.test(word) || (word.includes("/") && roots.has(word.split("/")[0]));
}

function pathExists(path: string): boolean {
  const pattern = path.replace(/<[^>]+>/g, "*").replace(/\/$/, "");
  if (!/[*{]/.test(pattern)) return endings.has(pattern);
  return [...paths].some((each) => matchesGlob(each, pattern) || matchesGlob(each, `**/${pattern}`));
}

/** `SNAKE_CASE`, `snake_case`, `PascalCase` or `camelCase` of two words or more. */
function isCompound(name: string): boolean {
  return /^([A-Z][A-Z0-9]*(_[A-Z0-9]+)+|[a-z][a-z0-9]*(_[a-z0-9]+)+|[A-Za-z][a-z0-9]+([A-Z][a-z0-9]+)+)$/.test(name);
}
