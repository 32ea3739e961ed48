import { errorKinds } from "@vidimus/kit/errors";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { statusOf } from "../errors/http-error.ts";

const root = join(import.meta.dirname, "../../../..");
const page = readFileSync(join(root, "docs/errors.md"), "utf8");
const sectionOf = (title: string) => page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
const namesIn = (section: string) => Array.from(section.matchAll(/^### (\w+)$/gm), ([, name = ""]) => name);

/** The `reason` words of refusals in the sources of all services. */
function reasonsInCode(): string[] {
  const files = globSync("services/*/src/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] });
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return text
      .split("new DomainError(")
      .slice(1)
      .flatMap((call) => /^[^;]*?\breason: "(\w+)"/.exec(call)?.[1] ?? []);
  });
}

/** The `reason` words in errors.proto. */
function reasonsInContract(): string[] {
  const text = readFileSync(join(root, "proto/vidimus/errors/v1/errors.proto"), "utf8");
  return Array.from(
    text.matchAll(/^\/\/ {3}- ((?:`\w+`(?:, )?)+)/gm),
    ([, names = ""]) => names.match(/\w+/g) ?? [],
  ).flat();
}

test("docs/errors.md has a section for every public code, with its status, and for no other", () => {
  const section = sectionOf("Public codes");
  expect(namesIn(section).toSorted()).toEqual(Object.keys(statusOf).toSorted());
  for (const [code, status] of Object.entries(statusOf)) expect(section).toContain(`### ${code}\n\nHTTP ${status}. `);
});

test("docs/errors.md has a section for every reason of an RPC error, and for no other", () => {
  const reasons = [...new Set([...reasonsInCode(), ...reasonsInContract()])];
  expect(reasons.length).toBeGreaterThan(15);
  expect(namesIn(sectionOf("RPC reasons")).toSorted()).toEqual(reasons.toSorted());
});

test("errors.proto lists every reason that a service gives a DomainError as a literal", () => {
  const listed = new Set(reasonsInContract());
  expect(reasonsInCode().filter((reason) => !listed.has(reason))).toEqual([]);
});

test("the table of RPC errors in docs/errors.md has every kind of failure, and no other", () => {
  const kinds = Array.from(sectionOf("RPC errors").matchAll(/^\| `(\w+)`/gm), ([, kind = ""]) => kind);
  expect(kinds.toSorted()).toEqual([...errorKinds, "internal"].toSorted());
});

test.each(["Cause", "See it", "Cure", "Retry"])("each code and each reason in docs/errors.md has a part %j", (word) => {
  for (const title of ["Public codes", "RPC reasons"]) {
    const sections = sectionOf(title).split(/^### /m).slice(1);
    const silent = sections.filter((section) => !section.replace(/\s+/g, " ").includes(`**${word}**`));
    expect(silent).toEqual([]);
  }
});
