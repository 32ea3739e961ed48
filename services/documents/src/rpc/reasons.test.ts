import { errorKinds } from "@vidimus/kit/errors";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "..");
const proto = readFileSync(join(source, "../../../proto/vidimus/errors/v1/errors.proto"), "utf8");
const files = globSync("**/*.ts", { cwd: source, exclude: ["**/*.test.ts"] });
const texts = files.map((file) => readFileSync(join(source, file), "utf8"));

test("errors.proto lists every kind of failure", () => {
  expect(errorKinds.filter((kind) => !proto.includes(`// - \`${kind}\`, `))).toEqual([]);
});

test("errors.proto lists every reason in refusals of the documents service", () => {
  const reason = /reason: "(\w+)"(?! \|)|reason = \w+ \? "(\w+)" : "(\w+)"/g;
  const reasons = new Set(
    texts.flatMap((text) => Array.from(text.matchAll(reason), ([, ...names]) => names.filter(Boolean)).flat()),
  );
  expect(reasons.size).toBeGreaterThan(15);
  expect(reasons).toContain("same_content");
  expect([...reasons].filter((name) => !new RegExp(`^//   - .*\`${name}\``, "m").test(proto))).toEqual([]);
});

test("errors.proto lists every metadata key in refusals of the documents service", () => {
  const fact = /\b((?:current|legal|allowed)_[a-z]+): |metadata = \{ (\w+),/g;
  const facts = new Set(texts.flatMap((text) => Array.from(text.matchAll(fact), ([, name, first]) => name ?? first)));
  expect([...facts]).toEqual(expect.arrayContaining(["legal_transitions", "guard", "role"]));
  expect([...facts].filter((name) => !proto.includes(`  // - \`${name}\`:`))).toEqual([]);
});
