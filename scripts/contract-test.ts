/**
 * `npm run test:contract [-- SEED…]`: sends generated requests to a stack of its own and checks
 * every answer against docs/openapi.json: status, content type and schema; malformed data, unknown
 * methods and missing keys are refused; no server error. The paths of webhooks name existing
 * endpoints, deliveries and replays, and each webhook route must answer 2xx at least once.
 *
 * Installs the pinned schemathesis from PyPI into .vidimus/contract-test once (needs python3 with
 * venv).
 */
import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { routes } from "@vidimus/gateway/endpoints/routes";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { makeWebhookSamples, nameSamples } from "./contract/webhook-samples.ts";
import { runProgram } from "./run-program.ts";
import { openWebhookDesk } from "./webhook-desk.ts";

const schemathesis = "schemathesis==4.32.5";
const examples = "40";
const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
  "unsupported_method",
  "ignored_auth",
];

const root = join(import.meta.dirname, "..");
const seeds = process.argv.length > 2 ? process.argv.slice(2) : ["1", "2", "3"];
const command = installed();

await using stack = await openProcessConstellation({
  IP_RATE_LIMIT: "off",
  AUTH_FAILURE_RATE_LIMIT: "off",
  WRITE_BUDGET: "off",
});
await using desk = await openWebhookDesk(stack.dev);
const description = await describe();
const successesBefore = await successes();
const failed: string[] = [];
for (const seed of seeds) if (!(await passes(seed))) failed.push(seed);
if (failed.length > 0) {
  console.error(`the contract does not hold with seed ${failed.join(", ")}`);
  process.exitCode = 1;
}
const unproven = await withoutSuccess();
if (unproven.length > 0) {
  console.error(`nothing was answered with success at ${unproven.join(", ")}`);
  process.exitCode = 1;
}

/**
 * Writes the description with existing ids, and with `wait` limited to a second, because nothing is
 * published during the test and each long poll waits to its end. Returns the path of the file.
 */
async function describe(): Promise<string> {
  const api = JSON.parse(await readFile(join(root, "docs/openapi.json"), "utf8")) as {
    paths: Parameters<typeof nameSamples>[0];
  };
  nameSamples(api.paths, await makeWebhookSamples(desk));
  const shortened = JSON.stringify(api, (_key, value: { name?: string } | null) =>
    value?.name === "wait" ? { ...value, schema: { type: "integer", enum: [0, 1] } } : value,
  );
  const path = join(stack.stateDir, "openapi.json");
  await writeFile(path, shortened);
  return path;
}

/** The webhook routes that answered no generated request with 2xx. */
async function withoutSuccess(): Promise<string[]> {
  const now = await successes();
  return routes.flatMap(({ method, url }) => {
    const route = `${method} ${url}`;
    const isProven = (now.get(route) ?? 0) > (successesBefore.get(route) ?? 0);
    return url.startsWith("/v1/webhooks/") && !isProven ? route : [];
  });
}

/**
 * From method and route, for example `GET /v1/documents`, to the number of requests that the
 * gateway has answered with 2xx.
 */
async function successes(): Promise<Map<string, number>> {
  const metrics = await (await fetch(`${stack.dev.ops.gateway}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, labels = "", count] of metrics.matchAll(/^vidimus_http_handled_seconds_count\{(.*)\} (\d+)$/gm)) {
    const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    const route = `${label("method")} ${label("route")}`;
    if (label("status").startsWith("2")) counts.set(route, (counts.get(route) ?? 0) + Number(count));
  }
  return counts;
}

async function passes(seed: string): Promise<boolean> {
  const target = ["run", description, "--url", stack.dev.gateway];
  const key = ["-H", `Authorization: Bearer ${stack.dev.tenants[0]?.apiKey ?? ""}`];
  const options = ["--checks", checks.join(","), "--seed", seed, "--max-examples", examples, "--no-color"];
  const child = spawn(command, [...target, ...key, ...options], {
    cwd: stack.stateDir,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [report] = await Promise.all([text(child.stdout), once(child, "close")]);
  const passed = child.exitCode === 0;
  const [cases = "no summary"] = /\d+ generated, \d+ passed.*/.exec(report) ?? [];
  console.log(passed ? `seed ${seed}: ${cases}` : report);
  return passed;
}

function installed(): string {
  const venv = join(root, ".vidimus/contract-test");
  const found = join(venv, "bin/schemathesis");
  if (!existsSync(found)) {
    runProgram("python3", ["-m", "venv", venv]);
    runProgram(join(venv, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", schemathesis]);
  }
  return found;
}
