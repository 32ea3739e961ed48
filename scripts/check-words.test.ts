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
  it("passes a newsroom, refused words in strings, and a title of 100 characters", () => {
    write("src/newsroom.ts", 'const room = openNewsroom("hurry");\n// The room of a tenant.');
    write("src/a.test.ts", title("x".repeat(100)));
    write("docs/a.md", "A live document moves on.");
    expect(check()).toEqual({ status: 0, faults: [] });
  });

  it.each([
    ["a name", "src/a.ts", "const x = 1;\nfunction hurryLane() {}", '2: the name hurryLane has "hurry"'],
    ["a private name", "src/a.ts", "#letGo() {}", '1: the name letGo has "let go"'],
    ["a compound name", "src/a.ts", "const hasRoom = true;", '1: the name hasRoom has "room"'],
    ["a comment", "src/a.ts", "/** Puts the attempt off. */", '1: the comment has "put off"'],
    ["a comment over lines", "src/a.ts", "/**\n * Gives a lease back.\n */", '2: the comment has "give back"'],
    ["a document", "docs/a.md", "# A\n\nThere is no room for it.", '3: the text has "room"'],
    ["a title", "src/a.test.ts", title("is judged alone"), '1: the title has "judge"'],
    ["a file name", "src/notary-client.ts", "", ' its name has "notary"'],
  ])("fails and says the place for a refused word in %s", (_what, path, text, fault) => {
    write(path, text);
    expect(check()).toEqual({ status: 1, faults: [`${path}:${fault}, which STYLE.md refuses`] });
  });

  it("fails for a title of 101 characters, also in a table of cases", () => {
    write("src/a.test.ts", `it.each([\n  ["a (b)", 1],\n])(\n  "${"x".repeat(101)}", () => {});`);
    const length = "the title has 101 characters, and may have 100";
    expect(check()).toEqual({ status: 1, faults: [`src/a.test.ts:1: ${length}`] });
  });

  it("fails for a file or folder that is called utils, helpers, manager or common", () => {
    for (const path of ["src/utils.ts", "src/common/a.ts", "src/lower-helpers.ts"]) write(path, "");
    expect(check().faults).toEqual(["src/common/a.ts: its name says nothing", "src/utils.ts: its name says nothing"]);
  });

  it("fails for a word of the vocabulary that it does not know", () => {
    write("STYLE.md", vocabulary("hurry, dawdle"));
    expect(check()).toEqual({
      status: 1,
      faults: ['STYLE.md refuses "dawdle", for which scripts/check-words.ts has no rule'],
    });
  });
});
