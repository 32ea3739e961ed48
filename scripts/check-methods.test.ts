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

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "methods-"));
  writeProto("documents", "DocumentService", "GetDocument");
  writeProto("documents", "PublishedDocumentService", "GetPublishedDocument");
  writeProto("phrases", "PhraseService", "UpsertPhrase");
  writeTables({ mesh: [published], teams: [document, phrase] });
  write("docs/editors.md", "```bash\ncall DocumentService/GetDocument '{}'\n```");
  write(command, "export function putPhrase(world: World): Command { client.upsertPhrase({}); }");
  write("packages/cli/src/nouns.ts", 'put: async () => (await import("./commands/phrases/put.ts")).putPhrase,');
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

/** Writes a known-callers.test.ts whose tables have rows for these methods. */
function writeTables({ mesh, teams }: { mesh: readonly string[]; teams: readonly string[] }): void {
  const rows = (names: readonly string[]) => names.map((name) => `  "${name}": [],`).join("\n");
  write(
    "tests/access/known-callers.test.ts",
    `const meshDoors = {\n  documents: [PublishedDocumentService],\n} as const;
const meshTable = {\n${rows(mesh)}\n};
const teamsDoors = {\n  documents: [DocumentService],\n  phrases: [PhraseService],\n} as const;
const teamsTable = {\n${rows(teams)}\n};\n`,
  );
}

function check() {
  const { status, stderr } = spawnSync(process.execPath, [script, dir], { encoding: "utf8" });
  return { status, faults: stderr.split("\n").filter((line) => line !== "") };
}

describe("the check of the methods", () => {
  it("passes methods that have their rows, examples and callers", () => {
    expect(check()).toEqual({ status: 0, faults: [] });
  });

  it.each([
    ["mesh", { mesh: [], teams: [document, phrase] }, "GetPublishedDocument has no row in the meshTable"],
    ["teams", { mesh: [published, phrase], teams: [document] }, "UpsertPhrase has no row in the teamsTable"],
  ])(
    "names a method that is served at the %s door and has no row in the table of that door",
    (_door, tables, fault) => {
      writeTables(tables);
      expect(check()).toEqual({ status: 1, faults: [expect.stringContaining(fault)] });
    },
  );

  it.each([
    ["example", "docs/editors.md", "", "GetDocument has no example in docs/editors.md"],
    ["caller", command, "", "UpsertPhrase has no command of npx vidimus, and no call of the console"],
    ["noun", "packages/cli/src/nouns.ts", "", `${command}: the command is not named in packages/cli/src/nouns.ts`],
  ])("names a method or command that lacks its %s", (_what, file, text, fault) => {
    write(file, text);
    expect(check()).toEqual({ status: 1, faults: [expect.stringContaining(fault)] });
  });

  it("does not take a name in the docs for a caller", () => {
    write(command, "");
    write("docs/phrases.md", "`UpsertPhrase` stores a phrase.");
    expect(check().status).toBe(1);
  });
});
