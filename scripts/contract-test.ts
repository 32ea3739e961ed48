/**
 * Throws generated requests at a running dev stack and holds every answer against docs/openapi.json: status, content type,
 * shape, negative data refused, methods refused, keys needed, no server error. Start the stack without limits first:
 *
 *     IP_RATE_LIMIT=off AUTH_FAILURE_RATE_LIMIT=off WRITE_BUDGET=off npm start
 *     node scripts/contract-test.ts [SEED…]
 *
 * Takes schemathesis from PATH, else puts the pinned one from PyPI into .vidimus/contract-test (needs python3 with venv).
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const schemathesis = "schemathesis==4.32.5";
const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
  "unsupported_method",
  "ignored_auth",
];

interface DevStack {
  readonly gateway: string;
  readonly tenants: readonly { readonly apiKey: string }[];
}

const root = join(import.meta.dirname, "..");
const stack = JSON.parse(readFileSync(join(root, ".vidimus/dev.json"), "utf8")) as DevStack;
const seeds = process.argv.length > 2 ? process.argv.slice(2) : ["1", "2", "3"];
const command = findSchemathesis();

const failed = seeds.filter((seed) => {
  const target = ["run", join(root, "docs/openapi.json"), "--url", stack.gateway];
  const key = ["-H", `Authorization: Bearer ${stack.tenants[0]?.apiKey ?? ""}`];
  const options = ["--checks", checks.join(","), "--seed", seed, "--max-examples", "100", "--no-color"];
  return spawnSync(command, [...target, ...key, ...options], { stdio: "inherit" }).status !== 0;
});

if (failed.length > 0) {
  console.error(`the contract does not hold with seed ${failed.join(", ")}`);
  process.exitCode = 1;
}

function findSchemathesis(): string {
  if (spawnSync("schemathesis", ["--version"]).status === 0) return "schemathesis";
  const venv = join(root, ".vidimus/contract-test");
  const found = join(venv, "bin/schemathesis");
  if (existsSync(found)) return found;
  run("python3", "-m", "venv", venv);
  run(join(venv, "bin/pip"), "install", "--quiet", schemathesis);
  return found;
}

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed`);
}
