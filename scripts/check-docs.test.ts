import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = join(import.meta.dirname, "check-docs.ts");

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "docs-"));
  write("package.json", JSON.stringify({ scripts: { check: "true", bench: "true" } }));
  write("services/documents/src/rpc/create-document.ts", "const createDocument = process.env.DRAIN_DELAY_MS;");
  write("packages/cli/src/commands/keys/roll.ts", "");
  write("packages/cli/src/commands/doctor.ts", "");
  write("bench/pages.ts", "");
  write("services/gateway/src/api-docs/guides.ts", 'const names = ["served"];');
  spawnSync("git", ["init", "--quiet"], { cwd: dir });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

/** What the check says of docs/guide.md with these lines. */
function check(...lines: string[]) {
  write("docs/guide.md", lines.join("\n"));
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: dir, encoding: "utf8" });
  return { status, faults: stderr.split("\n").filter((line) => line !== "") };
}

describe("the check of the docs", () => {
  it("passes a document whose links, paths, commands and names all exist", () => {
    const { status, faults } = check(
      "[a file](../bench/pages.ts), [a folder](../bench), [elsewhere](https://example.org/none.md), [below](#part)",
      "`services/<name>/src/{http,rpc}`, `rpc/create-document.ts`, `bench/*.ts`, `packages/`, `text/csv`, `/v1/documents`",
      "`npm run check`, `npm run bench -- pages`, `npx vidimus keys roll ID`, `npx vidimus doctor`, `npx vidimus keys …`",
      "`DRAIN_DELAY_MS=0`, `createDocument(deps)`, `INTERNAL_ERROR`",
    );
    expect({ status, faults }).toEqual({ status: 0, faults: [] });
  });

  it.each([
    ["a link", "see [there](../bench/none.ts)", "../bench/none.ts"],
    ["a path from the root", "`services/documents/src/rpc/none.ts`", "services/documents/src/rpc/none.ts"],
    ["a folder", "`packages/none/`", "packages/none/"],
    ["the end of a path", "`http/create-document.ts`", "http/create-document.ts"],
    ["a path with a placeholder", "`services/<name>/src/http`", "services/<name>/src/http"],
    ["an npm script", "`npm run chekc`", "npm run chekc"],
    ["a benchmark", "`npm run bench -- none`", "npm run bench -- none"],
    ["a command", "`npx vidimus keys unroll`", "npx vidimus keys unroll"],
    ["a command without npx", "`vidimus keys unroll`", "vidimus keys unroll"],
    ["a variable", "`DRAIN_MS`", "DRAIN_MS"],
    ["an RPC", "`RemoveDocument`", "RemoveDocument"],
    ["a field", "set `drain_delay`", "drain_delay"],
  ])("fails and says the line for %s that does not exist", (_what, line, name) => {
    expect(check("# Guide", line)).toEqual({ status: 1, faults: [`docs/guide.md:2: ${name} does not exist`] });
  });

  it("fails for a service's README of 41 lines, and not for a guide of the same length", () => {
    const readme = "services/documents/README.md";
    const lines = Array.from({ length: 41 }, () => "a line");
    write(readme, `${lines.slice(1).join("\n")}\n`);
    expect(check(...lines).faults).toEqual([]);
    write(readme, `${lines.join("\n")}\n`);
    expect(check(...lines)).toEqual({ status: 1, faults: [`${readme}: has 41 lines, more than 40`] });
  });

  it("refuses npx vidimus in a guide that the gateway serves, and not in another guide", () => {
    write("docs/served.md", "`vidimus doctor`, `npx vidimus doctor`\n\n```sh\nnpx vidimus keys roll ID\n```\n");
    expect(check("`npx vidimus doctor`").faults).toEqual([
      "docs/served.md:1: say vidimus without npx",
      "docs/served.md:4: say vidimus without npx",
    ]);
  });

  it("checks commands inside a block of code, but no names there", () => {
    expect(check("```sh", "npm run chekc # `SOME_EXAMPLE`", "```").faults).toEqual([
      "docs/guide.md:2: npm run chekc does not exist",
    ]);
  });
});
