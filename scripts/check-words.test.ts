import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = join(import.meta.dirname, "check-words.ts");

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "words-"));
  write("STYLE.md", vocabulary("hurry, room", "live"));
  spawnSync("git", ["init", "--quiet"], { cwd: dir });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function vocabulary(...cells: string[]): string {
  return ["| Say | For | Not |", "| --- | --- | --- |", ...cells.map((cell) => `| a | b | ${cell} |`)].join("\n");
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

function check() {
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: dir, encoding: "utf8" });
  return { status, faults: stderr.split("\n").filter((line) => line !== "") };
}

const title = (words: string) => `it("${words}", () => {});`;

describe("the check of words", () => {
  it("passes refused words that have another meaning, or stand in a string of a test", () => {
    write(
      "src/newsroom.ts",
      "// The room of a tenant is live; an element moves in place.\nconst newsroom = isInPlace;",
    );
    write("services/delivery/src/a.ts", "const ingest = takeIn(liveKeys);");
    write("services/documents/src/rpc/a.ts", "const intake = (context) => callContext(context);");
    write("services/documents/src/config.ts", "const schema = env.SCHEMA;");
    write("tests/a.test.ts", `const room = open("hurry");\n`);
    write("docs/a.md", "The text is put\n\noff");
    expect(check()).toEqual({ status: 0, faults: [] });
  });

  it.each([
    ["a name", "src/a.ts", "const x = 1;\nfunction hurryLane() {}", '2: the name hurryLane has "hurry"'],
    ["a private name", "src/a.ts", "#letGo() {}", '1: the name letGo has "let go"'],
    ["a compound name", "src/a.ts", "const hasRoom = true;", '1: the name hasRoom has "room"'],
    ["a whole name", "src/a.ts", "const room = 1;", '1: the name room has "room"'],
    ["a name beside a string", "src/a.ts", 'const t = "//", place = 1;', '1: the name place has "place"'],
    ["a name beside a pattern", "src/a.ts", 'const q = /["`]/, place = 1;', '1: the name place has "place"'],
    ["a name in a template", "src/a.ts", "const t = `${places.length}`;", '1: the name places has "place"'],
    ["a name of a version", "src/a.ts", "const liveVersion = 1;", '1: the name liveVersion has "live"'],
    ["a name of a transition", "src/a.ts", "moveDocument();", '1: the name moveDocument has "move"'],
    ["a name of a database", "src/a.ts", "const schemaVersion = 1;", '1: the name schemaVersion has "schema"'],
    ["a name in delivery", "services/delivery/src/a.ts", "openIntake();", '1: the name openIntake has "intake"'],
    ["a name in documents", "services/documents/src/a.ts", "ingestAll();", '1: the name ingestAll has "ingest"'],
    [
      "a name for deps",
      "services/documents/src/rpc/a.ts",
      "type ApplyContext = 1;",
      '1: the name ApplyContext has "context"',
    ],
    ["a short name for deps", "services/documents/src/rpc/a.ts", "const env = 1;", '1: the name env has "env"'],
    ["a comment", "src/a.ts", "/** Puts the attempt off. */", '1: the comment has "put off"'],
    ["a comment over lines", "src/a.ts", "/**\n * Gives a lease\n * back.\n */", '2: the comment has "give back"'],
    ["lines of comments", "src/a.ts", "f(); // It is put\n  // off.", '1: the comment has "put off"'],
    ["a comment behind code", "src/a.ts", "f(); // It is put off.", '1: the comment has "put off"'],
    ["a message", "src/a.ts", 'throw Error("a judged key");', '1: the string has "judge"'],
    ["a template", "src/a.ts", "log(`${n} were\nput off`);", '2: the string has "put off"'],
    ["a document", "docs/a.md", "# A\n\nThere is no\nroom for it.", '3: the text has "room"'],
    ["a contract", "proto/a.proto", 'syntax = "proto3"; // judged', '1: the comment has "judge"'],
    ["a manifest", "a.yaml", "a: 1 # It is put\n   # off.", '1: the comment has "put off"'],
    ["a style sheet", "a.css", "a { /* judged */ }", '1: the comment has "judge"'],
    ["a title", "src/a.test.ts", title("is judged alone"), '1: the title has "judge"'],
    ["a file name", "src/notary-client.ts", "", ' its name has "notary"'],
  ])("fails and says where a refused word stands: %s", (_what, path, text, fault) => {
    write(path, text);
    expect(check()).toEqual({ status: 1, faults: [`${path}:${fault}, which STYLE.md refuses`] });
  });

  it("passes a title of 100 characters", () => {
    write("tests/a.test.ts", title("x".repeat(100)));
    expect(check()).toEqual({ status: 0, faults: [] });
  });

  it.each([
    ["it.each and its cases", 'it.each([\n  ["a (b)", 1],\n])(\n'],
    ["it.each on one line", "it.each([(1), 2])(\n\n\n"],
    ["it.each with a type", "it.each<[string, (a: B) => C]>([\n  [x, y],\n])(\n"],
    ["it.skipIf().each", "  it.skipIf(f(1)).each(cases)(\n\n\n"],
  ])("fails for a title of 101 characters behind %s", (_what, code) => {
    write("src/a.test.ts", `${code}  "${"x".repeat(101)}", () => {});`);
    const length = "the title has 101 characters, and may have 100";
    expect(check()).toEqual({ status: 1, faults: [`src/a.test.ts:4: ${length}`] });
  });

  it("refuses names that end with utils, helpers, manager or common, save cert-manager and lower-helpers", () => {
    const paths = ["src/common/a.ts", "src/date-utils.ts", "src/helpers.ts", "src/manager/a.ts", "src/utils.ts"];
    for (const path of [...paths, "src/cert-manager.ts", "src/lower-helpers.ts"]) write(path, "");
    expect(check().faults).toEqual(paths.map((path) => `${path}: its name says nothing`));
  });

  it("fails for a word that STYLE.md refuses and for which the check has no rule", () => {
    write("STYLE.md", vocabulary("hurry, dawdle"));
    expect(check()).toEqual({
      status: 1,
      faults: ['STYLE.md refuses "dawdle", for which scripts/check-words.ts has no rule'],
    });
  });
});
