/** Alerts, dashboard and runbooks name only metrics, codes and commands that exist. */
import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { patient } from "@vidimus/kit/testing/patient";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test, vi } from "vitest";
import { sharedConstellation, type SharedConstellation } from "../support/shared-constellation.ts";
import { vidimus } from "../support/vidimus.ts";

const root = join(import.meta.dirname, "../..");
const component = join(root, "deploy/k8s/components/observability");
let stack: SharedConstellation;
let alerts: string;
let runbooks: string;

beforeAll(async () => {
  // Some metrics exist with certificates only.
  stack = await sharedConstellation({ mtls: true });
  alerts = await readFile(join(component, "alerts.yaml"), "utf8");
  runbooks = await readFile(join(root, "docs/alerts.md"), "utf8");
});

/** Names of all metrics of all services; a histogram has three. */
async function exported(): Promise<Set<string>> {
  const texts = await Promise.all(
    Object.values(stack.dev.ops).map(async (base) => (await fetch(`${base}/metrics`)).text()),
  );
  const types = texts.flatMap((text) => Array.from(text.matchAll(/^# TYPE (\w+) (\w+)$/gm)));
  return new Set(
    types.flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
}

function metricsIn(text: string): string[] {
  return [...new Set(text.match(/\b(?:vidimus|nodejs|process)_\w+/g))];
}

test("alerts and panels name only metrics that the services export", async () => {
  const { panels } = JSON.parse(await readFile(join(component, "dashboard.json"), "utf8")) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(20);
  expect(queries.filter((query) => metricsIn(query).length === 0)).toEqual([]);
  const known = await exported();
  const asked = [...queries, ...alerts.split("\n").filter((line) => /expr:|_total|_seconds/.test(line))];
  expect(asked.flatMap(metricsIn).filter((name) => !known.has(name))).toEqual([]);
});

test("alerts and runbooks name only RPC codes that exist", async () => {
  const asked = [...`${alerts}\n${runbooks}`.matchAll(/\bcode=~?"([^"]+)"/g)].flatMap(([, codes = ""]) =>
    codes.split("|"),
  );
  expect(asked.length).toBeGreaterThan(2);
  const counted = new Set(Object.values(Code).map((code) => (typeof code === "number" ? codeToString(code) : "ok")));
  expect(asked.filter((code) => !counted.has(code))).toEqual([]);
});

test("number and age of pending snapshots are exported as 0 when none is pending", async () => {
  // Snapshots that an earlier test file of the worker has published may not be settled yet.
  await vi.waitFor(async () => {
    const text = await (await fetch(`${stack.dev.ops.documents}/metrics`)).text();
    expect(text).toMatch(/^vidimus_snapshots_pending\{.*\} 0$/m);
    expect(text).toMatch(/^vidimus_snapshots_oldest_pending_seconds\{.*\} 0$/m);
  }, patient);
});

const alertNames = () => [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);

test("every alert has a runbook", () => {
  expect(alertNames().length).toBeGreaterThan(10);
  expect([...runbooks.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)).toEqual(alertNames());
});

test("every alert has a test that it fires and one that it stays silent", async () => {
  const tests = await readFile(join(root, "deploy/observability/alerts.test.yaml"), "utf8");
  const tested = [...tests.matchAll(/- name: (.*)/g)].map(([, name]) => name);
  expect(tested).toEqual(alertNames().flatMap((name) => [`${name} fires`, `${name} stays silent`]));
});

test("every command of the runbooks succeeds against a dev stack", async () => {
  const blocks = [...runbooks.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = ""]) => block.trim().split("\n"));
  expect(blocks.length).toBeGreaterThan(15);
  const dir = await mkdtemp(join(tmpdir(), "vidimus-runbooks-"));
  await mkdir(join(dir, ".vidimus"));
  await writeFile(join(dir, ".vidimus/dev.json"), JSON.stringify(stack.dev), { mode: 0o600 });
  for (const command of new Set(blocks)) {
    const ended = command.startsWith("npx vidimus ")
      ? await vidimus(command.split(" ").slice(2), { cwd: dir })
      : await shell(command);
    expect(ended, command).toMatchObject({ code: 0 });
  }
  await rm(dir, { recursive: true });
});

/**
 * Runs a command with the ops ports of this stack in place of the usual ones. The first program of
 * a pipeline must succeed; a grep after it may find nothing, because nothing is wrong.
 */
async function shell(command: string) {
  const { gateway, documents, phrases, signing, delivery } = stack.dev.ops;
  const bases = [gateway, documents, phrases, signing, delivery];
  const here = command
    .replace("curl -s ", "curl -fsS ")
    .replace(/http:\/\/127\.0\.0\.1:909([0-4])/, (_, port: string) => bases[Number(port)] ?? "");
  const script = `${here}\ncodes=("\${PIPESTATUS[@]}")\n[ "\${codes[0]}" = 0 ] && [ "\${codes[1]:-0}" -le 1 ]`;
  try {
    return { code: 0, ...(await promisify(execFile)("bash", ["-c", script])) };
  } catch (error) {
    return { code: 1, error };
  }
}
