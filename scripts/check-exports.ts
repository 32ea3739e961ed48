/**
 * Fails for an export that no other file names, whether or not its own file uses it: STYLE.md, "One
 * idea, one place". Reads words, so an export counts as used when another file has the same word
 * for something else.
 */
import { readFileSync } from "node:fs";
import { listedFiles } from "./listed-files.ts";

const texts = new Map(
  listedFiles()
    .filter((file) => /\.(?:ts|js|json|md|ya?ml)$/.test(file) && !/\/gen\//.test(file))
    .map((file) => [file, readFileSync(file, "utf8")]),
);
const filesWith = new Map<string, number>();
for (const text of texts.values()) {
  for (const word of new Set(text.match(/[\w$]+/g))) filesWith.set(word, (filesWith.get(word) ?? 0) + 1);
}

for (const [file, text] of texts) {
  if (!file.endsWith(".ts")) continue;
  for (const [, name = ""] of text.matchAll(
    /^export (?:async |abstract )*(?:const|function\*?|class|interface|type) (\w+)/gm,
  )) {
    if (filesWith.get(name) !== 1) continue;
    console.error(`${file}: exports ${name}, which no other file names`);
    process.exitCode = 1;
  }
}
