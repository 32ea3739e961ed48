import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const deciding = "if (a) b(); else if (c) d();\nfor (const e of f ? g : h) i();\nj ??= k;\n";
const file = "services/mail/src/store/letters.ts";
const unnamed = `${file}: has 5 branches, no test beside it, and no row of "Tests" in a README.md above it`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tests-"));
  write(file, deciding);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(path: string, text = ""): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

function table(...rows: string[]): string {
  return ["# Mail", "", "## Tests", "", "| Files | Tests |", "| --- | --- |", ...rows, "", "## More", ""].join("\n");
}

function faults(): string[] {
  const { stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "check-tests.ts"), dir], {
    encoding: "utf8",
  });
  return stderr.split("\n").filter((line) => line !== "");
}

describe("the check of tests", () => {
  it("names a file with five branches that has no test beside it and no row in a README.md", () => {
    expect(faults()).toEqual([unnamed]);
  });

  it.each(["letters.test.ts", "letters.property.test.ts"])("passes a file with %s beside it", (test) => {
    write(`services/mail/src/store/${test}`);
    expect(faults()).toEqual([]);
  });

  it.each([
    ["of its folder", "services/mail/src/store/README.md", "`letters.ts`"],
    ["of a folder above, which names the file's folder", "services/mail/src/README.md", "`main.ts`, `store/`"],
    ["of its package", "services/mail/README.md", "`src/store/letters.ts`"],
  ])("passes a file whose tests are named in a README.md %s", (_what, readme, files) => {
    write("services/mail/src/main.ts");
    write("services/mail/test/letters.test.ts");
    write("tests/mail.test.ts");
    write(readme, table(`| ${files} | \`test/letters.test.ts\`, \`tests/mail.test.ts\` |`));
    expect(faults()).toEqual([]);
  });

  it("names files and tests in a README.md's table that do not exist", () => {
    write("services/mail/src/README.md", table("| `store/`, `gone.ts` | `test/gone.test.ts` |"));
    expect(faults()).toEqual([
      "services/mail/src/README.md: services/mail/src/gone.ts does not exist",
      "services/mail/src/README.md: test/gone.test.ts does not exist",
    ]);
  });

  it("names the files of a README.md's row that has no test", () => {
    write("services/mail/src/README.md", table("| `store/` | later |"));
    expect(faults()).toEqual(["services/mail/src/README.md: a test of services/mail/src/store/ does not exist"]);
  });

  it('ignores rows outside of the section "Tests"', () => {
    write("services/mail/test/letters.test.ts");
    write("services/mail/src/store/README.md", "# Store\n\n| `letters.ts` | `test/letters.test.ts` |\n");
    expect(faults()).toEqual([unnamed]);
  });

  it("ignores a row of another folder's README.md that names the file by ../", () => {
    write("services/mail/test/letters.test.ts");
    write("services/mail/src/other/README.md", table("| `../store/letters.ts` | `test/letters.test.ts` |"));
    expect(faults()).toEqual([unnamed]);
  });

  it("names a hook at the top level of a non-test file, and none in a function or in a test file", () => {
    write("services/mail/src/store/letters.test.ts", "afterEach(close);\n");
    write(
      "services/mail/test/support/postman.ts",
      "export function hire() {\n  afterAll(leave);\n}\nafterEach(rest);\n",
    );
    expect(faults()).toEqual([
      "services/mail/test/support/postman.ts: afterEach at the top level holds for one test file only",
    ]);
  });

  it("counts no branch in comments, strings, optional members, .catch() and ?.", () => {
    const fourBranches = deciding.replace("j ??= k;\n", "");
    for (const text of [
      "// if (a) && b",
      "x('if (a) && b');",
      'x("d ?? e");',
      "interface A { b?: C }",
      "y.catch(z);",
      "w?.v;",
    ]) {
      write(file, `${fourBranches}${text}\n`);
      expect([text, faults()]).toEqual([text, []]);
    }
  });
});
