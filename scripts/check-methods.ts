/**
 * Fails when an RPC of `proto/` lacks what neither the compiler nor generated code asks for:
 *
 * - a row in the table of each door of tests/access/known-callers.test.ts at which its service
 *   stands: who may call it, and how its request names the tenant;
 * - for documents, whose teams door editors' programs call, an example in docs/editors.md;
 * - for the other teams doors, a command of `npx vidimus`, or a call of the console.
 *
 * Fails also for a command that has a file and is not named in packages/cli/src/nouns.ts. Only
 * reads files: those of the folder that its argument names, else of this repository.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.argv[2] ?? join(import.meta.dirname, "..");
const read = (pattern: string) =>
  globSync(pattern, { cwd: root })
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");

const knownCallers = "tests/access/known-callers.test.ts";
const tables = read(knownCallers);
const doors = ["mesh", "teams"].map((name) => ({
  name,
  services: partOf(tables, `const ${name}Doors`),
  rows: partOf(tables, `const ${name}Table`),
}));
const examples = read("docs/editors.md");
const callers = read("packages/{cli,console}/src/**/*.ts");
const nouns = read("packages/cli/src/nouns.ts");

/** Services of documents at its teams door, which docs/editors.md is about. */
const editorsServices = new Set(["DocumentService", "SchemaService", "WorkflowService"]);
/**
 * Methods that only programs call, such as a receiver or an importer. They need no command and no
 * page.
 */
const programsMethods = new Set(["GetDictionaryRevision"]);

const faults = [...globSync("proto/vidimus/**/*_service.proto", { cwd: root }).flatMap(faultsOf), ...unnamedCommands()];
for (const fault of faults.toSorted()) console.error(fault);
if (faults.length > 0) process.exitCode = 1;

/** The text of a statement, from its beginning to the line that closes it. */
function partOf(text: string, beginning: string): string {
  const [, rest = ""] = text.split(beginning);
  return rest.split(/^\}/m)[0] ?? "";
}

function faultsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const [, pack = ""] = /^package ([\w.]+);/m.exec(text) ?? [];
  const [, service = ""] = /^service (\w+) /m.exec(text) ?? [];
  return [...text.matchAll(/^ {2}rpc (\w+)\(/gm)].flatMap(([, method = ""]) => {
    const missing = [...missingRows(service, `${pack}.${service}/${method}`), ...missingUse(service, method)];
    return missing.map((what) => `${file}: ${method} has ${what}`);
  });
}

function missingRows(service: string, name: string): string[] {
  const served = doors.filter(({ services }) => new RegExp(`\\b${service}\\b`).test(services));
  if (served.length === 0) return [`a service that stands at no door in ${knownCallers}`];
  return served
    .filter(({ rows }) => !rows.includes(`"${name}":`))
    .map((door) => `no row in the ${door.name}Table of ${knownCallers}`);
}

function missingUse(service: string, method: string): string[] {
  const isForPeople = doors.some(({ name, services }) => name === "teams" && services.includes(service));
  if (!isForPeople || programsMethods.has(method)) return [];
  if (editorsServices.has(service)) {
    const isShown = examples.includes(`/${method} `) || examples.includes(`.${method},`);
    return isShown ? [] : ["no example in docs/editors.md"];
  }
  const inCode = `${method.charAt(0).toLowerCase()}${method.slice(1)}`;
  const isCalled = new RegExp(`\\b${inCode}\\b`).test(callers);
  return isCalled ? [] : ["no command of npx vidimus, and no call of the console"];
}

function unnamedCommands(): string[] {
  return globSync("packages/cli/src/commands/*/*.ts", { cwd: root })
    .filter((file) => /^export function \w+\(\w+: World\): Command/m.test(readFileSync(join(root, file), "utf8")))
    .filter((file) => !nouns.includes(`"./${file.slice("packages/cli/src/".length)}"`))
    .map((file) => `${file}: the command is not named in packages/cli/src/nouns.ts`);
}
