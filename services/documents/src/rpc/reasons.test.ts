import { errorKinds } from "@vidimus/kit/errors";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "..");
const proto = readFileSync(join(source, "../../../proto/vidimus/errors/v1/errors.proto"), "utf8");

test("errors.proto lists every kind of failure", () => {
  expect(errorKinds.filter((kind) => !proto.includes(`// - \`${kind}\`, `))).toEqual([]);
});

test("errors.proto lists every reason and every fact in refusals of the documents service", () => {
  const files = globSync("**/*.ts", { cwd: source, exclude: ["**/*.test.ts"] });
  const texts = files.map((file) => readFileSync(join(source, file), "utf8"));
  const reasons = new Set(
    texts.flatMap((text) => Array.from(text.matchAll(/reason: "(\w+)"(?! \|)/g), ([, name]) => name)),
  );
  expect(reasons.size).toBeGreaterThan(15);
  expect([...reasons].filter((reason) => !new RegExp(`^//   - .*\`${reason}\``, "m").test(proto))).toEqual([]);
  const facts = new Set(
    texts.flatMap((text) => Array.from(text.matchAll(/\b((?:current|legal|allowed)_[a-z]+): /g), ([, name]) => name)),
  );
  expect(facts).toContain("legal_transitions");
  expect([...facts].filter((fact) => !proto.includes(`  // - \`${fact}\`:`))).toEqual([]);
});
