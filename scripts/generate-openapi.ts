/**
 * Writes docs/openapi.json, the description of the public API. With `--check` it writes nothing,
 * and fails when the file differs.
 */
import { openApiText } from "@vidimus/gateway/api-docs/api-docs";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "../docs/openapi.json");
const text = openApiText();

if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  console.error("docs/openapi.json differs from the gateway's routes; run `npm run generate` and commit");
  process.exitCode = 1;
}
