import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = join(import.meta.dirname, "check-methods.ts");

const document = "vidimus.documents.v1.DocumentService/GetDocument";
const published = "vidimus.documents.v1.PublishedDocumentService/GetPublishedDocument";
const phrase = "vidimus.phrases.v1.PhraseService/UpsertPhrase";
const command = "packages/cli/src/commands/phrases/put.ts";
const commandTest = "packages/cli/test/phrases.test.ts";
const grant = "deploy/k8s/components/console/grant.json";
const page = "packages/console/src/pages/phrases/put-phrase.ts";
const phrasesTest = "services/phrases/test/phrase-service.test.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "methods-"));
  writeProto("documents", "DocumentService", "GetDocument");
  writeProto("documents", "PublishedDocumentService", "GetPublishedDocument");
  writeProto("phrases", "PhraseService", "UpsertPhrase");
  writeTables({ mesh: [published], teams: [document, phrase] });
  write("tests/access/known-tenants.test.ts", "const reads = /\\/(Get|List)\\w+$/;\n");
  writeRoute("documents", "DocumentService", 'getDocument: "read"');
  writeRoute("phrases", "PhraseService", 'upsertPhrase: "write"');
  write("services/documents/src/rpc/get-document.ts", "");
  write("services/documents/src/rpc/published/get-published-document.ts", "");
  write("services/phrases/src/rpc/upsert-phrase.ts", "");
  write("services/documents/test/reads.test.ts", "client.getDocument({}); client.getPublishedDocument({});");
  write(phrasesTest, "client.upsertPhrase({});");
  write("docs/editors.md", "```bash\ncall DocumentService/GetDocument '{}'\n```");
  writeDoors("`DocumentService`", "`PublishedDocumentService`");
  write(command, "export function putPhrase(world: World): Command { open(PhraseService).upsertPhrase({}); }");
  write("packages/cli/src/nouns.ts", 'put: async () => (await import("./commands/phrases/put.ts")).putPhrase,');
  write(commandTest, 'run(["phrases", "put"]);');
  write("README.md", "`npx vidimus phrases\nput` stores a phrase.");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

function writeProto(pack: string, service: string, method: string): void {
  const file = service.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
  const rpc = `  rpc ${method}(${method}Request) returns (${method}Response) {`;
  write(`proto/vidimus/${pack}/v1/${file}.proto`, `package vidimus.${pack}.v1;\nservice ${service} {\n${rpc}\n}\n`);
}

function writeRoute(folder: string, service: string, effect: string): void {
  write(`services/${folder}/src/rpc/route.ts`, `teamsRoute(route(${service}, methods), { ${effect} });`);
}

/**
 * Writes a known-callers.test.ts whose tables have rows for these methods.
 *
 * @param inRows what all rows say of their methods
 */
function writeTables({ mesh, teams }: { mesh: readonly string[]; teams: readonly string[] }, inRows = "[]"): void {
  const rows = (names: readonly string[]) => names.map((name) => `  "${name}": ${inRows},`).join("\n");
  write(
    "tests/access/known-callers.test.ts",
    `const meshDoors = {\n  documents: [PublishedDocumentService],\n} as const;
const meshTable = {\n${rows(mesh)}\n};
const teamsDoors = {\n  documents: [DocumentService],\n  phrases: [PhraseService],\n} as const;
const teamsTable = {\n${rows(teams)}\n};\n`,
  );
}

/** Writes the table of doors, with these services in the row of documents. */
function writeDoors(teams: string, mesh: string): void {
  const rows = [`| documents | ${teams} | ${mesh} |`, "| phrases | `PhraseService` |  |"];
  write("docs/operations.md", `| service | teams door: x | mesh door: y |\n| --- | --- | --- |\n${rows.join("\n")}\n`);
}

function check() {
  const { status, stderr } = spawnSync(process.execPath, [script, dir], { encoding: "utf8" });
  return { status, faults: stderr.split("\n").filter((line) => line !== "") };
}

const fault = (text: string) => ({ status: 1, faults: [expect.stringContaining(text)] });
const noFault = { status: 0, faults: [] };

describe("the check of the methods", () => {
  it("passes methods that have their rows, tests, examples and callers", () => {
    expect(check()).toEqual(noFault);
  });

  it.each([
    ["mesh", { mesh: [], teams: [document, phrase] }, "GetPublishedDocument has no row in the meshTable"],
    ["teams", { mesh: [published, phrase], teams: [document] }, "UpsertPhrase has no row in the teamsTable"],
  ])("names a method that is served at the %s door and has no row in the table of that door", (_door, tables, text) => {
    writeTables(tables);
    expect(check()).toEqual(fault(text));
  });

  it.each([
    ["a method without an example", "docs/editors.md", "GetDocument has no example in docs/editors.md"],
    ["an untested method", phrasesTest, "UpsertPhrase has no test in services/phrases that calls it"],
    [
      "a command that nouns.ts does not list",
      "packages/cli/src/nouns.ts",
      `${command}: the command is not named in packages/cli/src/nouns.ts`,
    ],
    ["an untested command", commandTest, `${command}: the command is not named in a test of packages/cli or tests/cli`],
    ["a command that no guide names", "README.md", `${command}: the command is not named in docs/`],
  ])("names %s", (_what, file, text) => {
    write(file, "");
    expect(check()).toEqual(fault(text));
  });

  it("counts neither a command that opens another service nor text of the docs as a method's caller", () => {
    const body = "open(OtherService).upsertPhrase({});";
    write(command, `export function putPhrase(world: World): Command { ${body} }`);
    write("docs/phrases.md", "`UpsertPhrase` of PhraseService: client.upsertPhrase({})");
    expect(check()).toEqual(fault("UpsertPhrase has no command of npx vidimus, and no call of the console"));
  });

  it("counts a page as a caller only if it calls the method and the console's grant has the method", () => {
    write(command, "export function putPhrase(world: World): Command { }");
    write(page, "phrases.upsertPhrase({});");
    write(grant, '["vidimus.other.v1.OtherService/UpsertPhrase"]');
    expect(check()).toEqual(fault("UpsertPhrase has no command of npx vidimus, and no call of the console"));
    write(grant, `["${phrase}"]`);
    expect(check()).toEqual(noFault);
    write(page, "");
    expect(check()).toEqual(fault("UpsertPhrase has no command of npx vidimus, and no call of the console"));
  });

  it.each([
    ["refuses another service's call", "call SchemaService/GetDocument '{}'", false],
    ["refuses another service's stub", "schemas = SchemaServiceStub(channel)\ncall(schemas.GetDocument, x)", false],
    ["accepts the service's stub", "editor = DocumentServiceStub(channel)\ncall(editor.GetDocument, x)", true],
    ["accepts a stub without a variable", "call(DocumentServiceStub(channel).GetDocument, x)", true],
  ])("%s as a method's example", (_whose, example, isOwn) => {
    write("docs/editors.md", example);
    expect(check()).toEqual(isOwn ? noFault : fault("GetDocument has no example in docs/editors.md"));
  });

  it.each([
    ["documents", "DocumentService", 'getDocument: "write"', 'GetDocument has the effect "write", and its name'],
    ["phrases", "PhraseService", 'upsertPhrase: "read"', 'UpsertPhrase has the effect "read", and its name'],
  ])("names a method of %s whose name does not agree with its effect", (folder, service, effect, text) => {
    writeRoute(folder, service, effect);
    expect(check()).toEqual(fault(text));
  });

  it.each([
    ["platform", "all"],
    ["tenantless", "none"],
  ])("accepts the effect `%s` of a method whose row says `%s`, and of no other", (effect, row) => {
    writeRoute("documents", "DocumentService", `getDocument: "${effect}"`);
    expect(check()).toEqual(fault(`GetDocument has the effect "${effect}", and its row`));
    writeRoute("phrases", "PhraseService", `upsertPhrase: "${effect}"`);
    writeTables({ mesh: [published], teams: [document, phrase] }, `"${row}"`);
    expect(check()).toEqual(noFault);
  });

  it("names a method whose file has another name", () => {
    rmSync(join(dir, "services/phrases/src/rpc/upsert-phrase.ts"));
    write("services/phrases/src/rpc/put-phrase.ts", "");
    expect(check()).toEqual(fault("UpsertPhrase has no file upsert-phrase.ts in services/phrases/src/rpc"));
  });

  it("names a service with a route for the mesh door that is missing in its list of services", () => {
    write("services/documents/src/rpc/feed.ts", "meshRoute(route(DocumentService, methods), {});");
    expect(check()).toEqual(fault("DocumentService has a meshRoute, and is missing in meshDoors"));
  });

  it.each([
    ["lacks a service", "", "`PublishedDocumentService`", "at the teams door of documents stand DocumentService"],
    ["has an extra service", "`DocumentService`", "`PublishedDocumentService`, `DocumentService`", "at the mesh door"],
  ])("names a door whose cell in the table of docs/operations.md %s", (_what, teams, mesh, text) => {
    writeDoors(teams, mesh);
    expect(check()).toEqual(fault(text));
  });

  it("counts a command as tested when a helper adds its noun, not when its noun and verb stand apart", () => {
    write(commandTest, 'const phrases = (...argv: string[]) => run(["phrases", ...argv]);\nphrases("put");');
    expect(check()).toEqual(noFault);
    write(commandTest, 'run(["phrases", "list"]);\nexpect(body).toBe("put");');
    expect(check()).toEqual(fault("the command is not named in a test"));
  });
});
