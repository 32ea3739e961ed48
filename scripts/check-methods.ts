/**
 * Fails when an RPC of `proto/` lacks what neither the compiler nor generated code asks for:
 *
 * - a file named after it in the `rpc/` folder of its service;
 * - a row in tests/access/known-callers.test.ts for each door at which its service stands: in
 *   `meshTable` who may call it, in `teamsTable` how its request names the tenant;
 * - a call in a test of its service;
 * - at a teams door, a name that agrees with its effect: `reads` of
 *   tests/access/known-tenants.test.ts matches the names of those with the effect `read`, and of
 *   none with `write`; the teamsTable says `"all"` of those with `platform`, `"none"` of those with
 *   `tenantless`, and neither of others;
 * - at documents' teams door, which editors' programs call, an example in docs/editors.md;
 * - at the other teams doors, a command of `npx vidimus` or a page of the console that calls it.
 *
 * Fails also when a service has a route for a door at which known-callers.test.ts does not list it,
 * when the table of doors in docs/operations.md names other services than
 * known-callers.test.ts, and for a command of `npx vidimus` that packages/cli/src/nouns.ts, all
 * tests or all guides leave out. Only reads files: those of the folder that its argument names,
 * else of this repository.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.argv[2] ?? join(import.meta.dirname, "..");
const readAll = (...patterns: string[]) =>
  globSync(patterns, { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));
const read = (...patterns: string[]) => readAll(...patterns).join("\n");

const knownCallers = "tests/access/known-callers.test.ts";
const knownTenants = "tests/access/known-tenants.test.ts";
const tables = read(knownCallers);
const doors = ["teams", "mesh"].map((name) => ({
  name,
  services: servicesAt(partOf(tables, `const ${name}Doors`)),
  rows: partOf(tables, `const ${name}Table`),
}));
const teamsRows = partOf(tables, "const teamsTable");
const reads = new RegExp(/^const reads = \/(.+)\/;$/m.exec(read(knownTenants))?.[1] ?? "$^");
const rpcFiles = readAll("services/*/src/rpc/**/*.ts");
const routes = rpcFiles.filter((text) => text.includes("teamsRoute("));
const examples = read("docs/editors.md");
const programs = readAll("packages/cli/src/**/*.ts");
const pages = read("packages/console/src/**/*.ts");
const grant = read("deploy/k8s/components/console/grant.json");
const nouns = read("packages/cli/src/nouns.ts");
const commandTests = readAll("packages/cli/test/*.test.ts", "tests/cli/*.test.ts");
const guides = read("README.md", "docs/*.md", "packages/cli/README.md").replaceAll(/\s+/g, " ");

/** Methods whose handlers are in a package, so no service has a file named after one. */
const sharedMethods = new Set(["ListAuditEntries"]);
/** Methods that only programs call, so they need no command, page or example. */
const programsMethods = new Set(["GetDictionaryRevision"]);

/** What the teamsTable says of methods whose requests name no tenant. */
const tenantsOf: Readonly<Record<string, string>> = { platform: '"all"', tenantless: '"none"' };

interface Method {
  readonly file: string;
  readonly service: string;
  /** `package.Service/Method`. */
  readonly fullName: string;
  readonly name: string;
  /** As in code, for example `listPhrases`. */
  readonly localName: string;
}

const methods = globSync("proto/vidimus/**/*_service.proto", { cwd: root }).flatMap(methodsOf);
const faults = [
  ...methods.flatMap(faultsOf),
  ...wrongDoors(),
  ...unlistedServices(),
  ...globSync("packages/cli/src/commands/*/*.ts", { cwd: root }).filter(isCommand).flatMap(faultsOfCommand),
];
for (const fault of faults.toSorted()) console.error(fault);
if (faults.length > 0) process.exitCode = 1;

/** The text of a statement between its beginning and the line that closes it. */
function partOf(text: string, beginning: string): string {
  const [, rest = ""] = text.split(beginning);
  return rest.split(/^\}/m)[0] ?? "";
}

/** From the name of a service to the RPC services at its door. */
function servicesAt(part: string): ReadonlyMap<string, readonly string[]> {
  const rows = [...part.matchAll(/^ {2}(\w+): \[([^\]]*)\]/gm)];
  return new Map(rows.map(([, door = "", names = ""]) => [folderOf(door), names.match(/\w+/g) ?? []]));
}

/** The service that a package of `proto/` belongs to. */
function folderOf(pack: string): string {
  return pack === "access" ? "gateway" : pack;
}

function methodsOf(file: string): Method[] {
  const text = readFileSync(join(root, file), "utf8");
  const [, pack = ""] = /^package ([\w.]+);/m.exec(text) ?? [];
  const [, service = ""] = /^service (\w+) /m.exec(text) ?? [];
  return [...text.matchAll(/^ {2}rpc (\w+)\(/gm)].map(([, name = ""]) => {
    const localName = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    return { file, service, fullName: `${pack}.${service}/${name}`, name, localName };
  });
}

function faultsOf(method: Method): string[] {
  const missing = [
    ...missingFile(method),
    ...missingRows(method),
    ...missingTest(method),
    ...missingUse(method),
    ...wrongEffect(method),
  ];
  return missing.map((what) => `${method.file}: ${method.name} has ${what}`);
}

function missingFile({ file, name }: Method): string[] {
  if (sharedMethods.has(name)) return [];
  const folder = `services/${folderOf(file.split("/")[2] ?? "")}/src/rpc`;
  const named = `${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()}.ts`;
  return globSync(`${folder}/**/${named}`, { cwd: root }).length > 0 ? [] : [`no file ${named} in ${folder}`];
}

function missingRows({ service, fullName }: Method): string[] {
  const served = doors.filter(({ services }) => [...services.values()].flat().includes(service));
  if (served.length === 0) return [`a service that stands at no door in ${knownCallers}`];
  return served
    .filter(({ rows }) => !rows.includes(`"${fullName}":`))
    .map((door) => `no row in the ${door.name}Table of ${knownCallers}`);
}

function missingTest({ file, localName }: Method): string[] {
  const folder = `services/${folderOf(file.split("/")[2] ?? "")}`;
  const isTested = read(`${folder}/{src,test}/**/*.test.ts`).includes(`.${localName}(`);
  return isTested ? [] : [`no test in ${folder} that calls it`];
}

function missingUse(method: Method): string[] {
  const [teams] = doors;
  const [door] = [...(teams?.services ?? [])].find(([, services]) => services.includes(method.service)) ?? [];
  if (door === undefined || programsMethods.has(method.name)) return [];
  if (door === "documents") return isShown(method) ? [] : ["no example in docs/editors.md"];
  return isCalled(method) ? [] : ["no command of npx vidimus, and no call of the console"];
}

/** Whether docs/editors.md calls the method as `Service/Method`, or by a stub in Python. */
function isShown({ service, name }: Method): boolean {
  const [, stub = "-"] = new RegExp(`(\\w+) = ${service}Stub\\(`).exec(examples) ?? [];
  const calls = [`${service}/${name} `, `${service}Stub(channel).${name},`, `(${stub}.${name},`];
  return calls.some((call) => examples.includes(call));
}

function isCalled({ service, fullName, localName }: Method): boolean {
  const call = `.${localName}(`;
  const ofService = new RegExp(`\\b${service}\\b`);
  const isInGrant = grant.includes(`"${fullName}"`);
  return programs.some((text) => ofService.test(text) && text.includes(call)) || (isInGrant && pages.includes(call));
}

function wrongEffect({ service, fullName, name, localName }: Method): string[] {
  const route = routes.find((text) => new RegExp(`\\b${service}\\b`).test(text)) ?? "";
  const [, effect] = new RegExp(`\\b${localName}: "(read|write|platform|tenantless)"`).exec(route) ?? [];
  if (effect === undefined) return [];
  const [, row] = new RegExp(`"${fullName}": ("\\w+")?`).exec(teamsRows) ?? [];
  if (row !== tenantsOf[effect]) {
    return [`the effect "${effect}", and its row in the teamsTable of ${knownCallers} does not agree with that`];
  }
  if (effect in tenantsOf || (effect === "read") === reads.test(`/${name}`)) return [];
  return [`the effect "${effect}", and its name does not agree with \`reads\` of ${knownTenants}`];
}

function unlistedServices(): string[] {
  const services = [...new Set(methods.map(({ service }) => service))];
  return doors.flatMap(({ name, services: served }) => {
    const routesOf = rpcFiles.filter((text) => text.includes(`${name}Route(`));
    const listed = new Set([...served.values()].flat());
    return services
      .filter((service) => !listed.has(service) && routesOf.some((text) => new RegExp(`\\b${service}\\b`).test(text)))
      .map((service) => `${knownCallers}: ${service} has a ${name}Route, and is missing in ${name}Doors`);
  });
}

function wrongDoors(): string[] {
  const [, table = ""] = /^\| service +\| teams door: .*\n((?:\|.*\n)+)/m.exec(read("docs/operations.md")) ?? [];
  const rows = [...table.matchAll(/^\| (\w+) +\|([^|]*)\|([^|]*)\|$/gm)];
  return doors.flatMap(({ name, services }, at) =>
    [...services].flatMap(([service, served]) => {
      const cell = rows.find(([, first]) => first === service)?.[2 + at] ?? "";
      const named = new Set(Array.from(cell.matchAll(/`(\w+Service)`/g), ([, found = ""]) => found));
      const isRight = named.size === served.length && served.every((each) => named.has(each));
      return isRight ? [] : [`docs/operations.md: at the ${name} door of ${service} stand ${served.join(", ")}`];
    }),
  );
}

function isCommand(file: string): boolean {
  return /^export function \w+\(\w+: World\): Command/m.test(readFileSync(join(root, file), "utf8"));
}

function faultsOfCommand(file: string): string[] {
  const [noun = "", verb = ""] = file.replace(/\.ts$/, "").split("/").slice(-2);
  const isTested = commandTests.some((text) => runs(text, noun, verb));
  return [
    ...(nouns.includes(`"./commands/${noun}/${verb}.ts"`) ? [] : ["packages/cli/src/nouns.ts"]),
    ...(isTested ? [] : ["a test of packages/cli or tests/cli"]),
    ...(new RegExp(`\\b${noun} ${verb}\\b`).test(guides) ? [] : ["docs/, README.md or packages/cli/README.md"]),
  ].map((where) => `${file}: the command is not named in ${where}`);
}

/** Finds `"NOUN", "VERB"`, or `"NOUN", ...` and a call or array that begins with `"VERB"`. */
function runs(test: string, noun: string, verb: string): boolean {
  const named = (pattern: string) => new RegExp(pattern).test(test);
  return named(`"${noun}",\\s+"${verb}"`) || (named(`"${noun}",\\s+\\.{3}`) && named(`[([]"${verb}"`));
}
