/**
 * Runs the verifiers of docs/verifiers.md, exactly as they are printed there, and packages/verify
 * on genuine deliveries and on changed ones: each must accept the genuine ones, and refuse each
 * other one by the check that covers the change. Also fails when a program is missing on this
 * machine.
 *
 * Needs python3 with venv, Go, openssl and npm. Installs the pinned `cryptography` from PyPI into
 * .vidimus/verifiers once. The package runs on each version of `node` on the PATH.
 */
import { execFile, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { vector } from "../packages/verify/src/webhook-vector.ts";
import { listStater } from "../packages/verify/test/support/list-stater.ts";
import { type DeliveryCase, deliveryCases, keptListCases } from "./verifiers/delivery-cases.ts";
import { trustListCases } from "./verifiers/trust-list-cases.ts";
import { packageProgram } from "./verifiers/package-program.ts";
import { runProgram } from "./run-program.ts";

const cryptography = "cryptography==50.0.2";
const root = join(import.meta.dirname, "..");
const tools = join(root, ".vidimus/verifiers");
mkdirSync(tools, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "vidimus-verifiers-"));

/** Signs the trust lists of the cases that have no `list` of their own. */
const stater = listStater();

/** A program and its first arguments; the files of a case follow. */
type Verifier = readonly [string, ...string[]];

try {
  const verifiers: Record<string, Verifier> = { python: python(), go: go(), openssl: shell(), ...nodes() };
  const failures: string[] = [];
  for (const [name, verifier] of Object.entries(verifiers)) failures.push(...(await failuresOf(name, verifier)));
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true });
}

async function failuresOf(name: string, verifier: Verifier): Promise<string[]> {
  const now = Math.floor(Date.now() / 1000);
  const cases = casesFor(name, now);
  const failures: string[] = [];
  for (const each of cases) {
    const { status, said, fetches } = await verify(verifier, each);
    const isRight = each.refusedBy === undefined ? status === 0 : status !== 0 && each.refusedBy.test(said);
    const isOften = each.fetches !== undefined && fetches !== each.fetches;
    if (!isRight || isOften) failures.push(`${name}: ${each.title}: exit ${status}, ${fetches} fetches: ${said}`);
  }
  console.log(`${name}: ${cases.length - failures.length} of ${cases.length} deliveries as expected (${verifier[0]})`);
  return failures;
}

/**
 * The shell program does not verify the trust list, so it gets no cases about lists. The package
 * caches lists itself, so it gets no cases with a list that was kept.
 */
function casesFor(name: string, now: number): readonly DeliveryCase[] {
  const deliveries = deliveryCases(now);
  const [genuine] = deliveries;
  if (!genuine || name === "openssl") return deliveries;
  const kept = name.startsWith("package") ? [] : keptListCases(genuine, now);
  return [...deliveries, ...trustListCases(genuine, now), ...kept];
}

async function verify([program, ...args]: Verifier, each: DeliveryCase) {
  const { headers, body, keys, secret = vector.secret, pins = { root: stater.root }, keysAt } = each;
  const list = each.list ?? stater.state({ active: vector.keyId, keys });
  await using cache = await openCache(list, each.present);
  const contents = { headers: linesOf(headers), body, keys: list.body, keysHeaders: linesOf(list.headers) };
  const files = Object.entries(contents).map(([name, content]) => {
    writeFileSync(join(work, name), content);
    return join(work, name);
  });
  const { root: trustRoot, listKey, revision } = pins;
  const trust = { TRUST_ROOT: trustRoot, TRUST_LIST_KEY: listKey, TRUST_REVISION: revision };
  const settings = { ...trust, KEYS_AT: keysAt, KEYS_URL: cache.url };
  const set = Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
  const env = { ...process.env, ...Object.fromEntries(set), WEBHOOK_SECRET: secret };
  return await new Promise<{ status: number | string; said: string; fetches: number }>((resolve) => {
    execFile(program, [...args, ...files], { encoding: "utf8", env }, (error, stdout, stderr) => {
      resolve({ status: error ? (error.code ?? 1) : 0, said: `${stdout}${stderr}`.trim(), fetches: cache.fetches });
    });
  });
}

/** A cache with an old list. Asked with `no-cache`, it answers with the current keys. */
async function openCache(kept: NonNullable<DeliveryCase["list"]>, present: DeliveryCase["present"]) {
  if (!present) return { url: undefined, fetches: 0, async [Symbol.asyncDispose]() {} };
  const newer = stater.state({ active: vector.keyId, keys: present }, { revision: 2 });
  let fetches = 0;
  const server = createServer((request, response) => {
    fetches += 1;
    const { headers, body } = request.headers["cache-control"] === "no-cache" ? newer : kept;
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/keys`,
    get fetches() {
      return fetches;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
}

function fromDocs(language: string, file: string): string {
  const docs = readFileSync(join(root, "docs/verifiers.md"), "utf8");
  const [program, ...others] = docs.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"));
  if (!program?.[1] || others.length > 0) throw new Error(`docs/verifiers.md must hold one program in ${language}`);
  const path = join(work, file);
  writeFileSync(path, program[1]);
  return path;
}

function python(): Verifier {
  const venv = join(tools, cryptography);
  const program = join(venv, "bin/python");
  if (!existsSync(join(venv, "complete"))) {
    runProgram("python3", ["-m", "venv", venv]);
    runProgram(program, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", cryptography]);
    writeFileSync(join(venv, "complete"), "");
  }
  return [program, fromDocs("python", "verify.py")];
}

function go(): Verifier {
  const binary = join(work, "verify-go");
  runProgram("go", ["build", "-o", binary, fromDocs("go", "verify.go")]);
  return [binary];
}

function shell(): Verifier {
  return ["sh", fromDocs("sh", "verify.sh")];
}

function nodes(): Record<string, Verifier> {
  const packed = spawnSync("npm", ["pack", "--json", "--pack-destination", work], {
    cwd: join(root, "packages/verify"),
    encoding: "utf8",
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  runProgram("tar", ["--extract", "--directory", work, "--file", join(work, filename)]);
  const program = join(work, "verify.mjs");
  writeFileSync(program, packageProgram);
  const paths = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  const found = paths.filter((path) => existsSync(path)).map((path) => [versionOf(path), path] as const);
  return Object.fromEntries(found.map(([version, path]) => [`package on node ${version}`, [path, program]]));
}

function versionOf(node: string): string {
  return spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
}
