/**
 * Runs verification libraries by others, and packages/verify, on deliveries that a stack of its own
 * has posted: each must accept every unchanged delivery, and refuse it with any single bit of its
 * body, its id or its time flipped. Part of `npm run test:verifiers`.
 *
 * Installs pinned libraries from npm and PyPI into .vidimus/libraries once; that of the Go module
 * proxy is in Go's module cache. The Java library is compiled from its sources in the same Go
 * module, because its jar on Maven Central is empty. Needs python3 with venv, Go and a JDK.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TrustedKey, verifyDelivery } from "../packages/verify/src/verify.ts";
import { captureDeliveries, type CapturedDelivery } from "./verifiers/capture-deliveries.ts";

const npmLibraries = { standardwebhooks: "1.1.1", svix: "2.5.0" };
const pypiLibraries = { standardwebhooks: "1.1.0", svix: "2.9.1" };
const goModule = "github.com/standard-webhooks/standard-webhooks/libraries";
const goVersion = "v0.0.1";

const root = join(import.meta.dirname, "..");
const tools = join(root, ".vidimus/libraries");
const programs = join(import.meta.dirname, "verifiers/libraries");
mkdirSync(tools, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "vidimus-libraries-"));

try {
  // Installed first, because libraries refuse deliveries that are older than five minutes.
  const [npm, python, go, java] = [npmFolder(), pythonProgram(), goProgram(), javaClasses()];
  const { deliveries, keys } = await captureDeliveries();
  report("packages/verify", await ownPackage(deliveries, keys));
  const json = join(work, "cases.json");
  writeFileSync(json, JSON.stringify(deliveries));
  for (const name of Object.keys(npmLibraries)) report(`npm ${name}`, node(npm, json, name));
  for (const name of Object.keys(pypiLibraries)) {
    report(`PyPI ${name}`, run(python, [join(programs, "verify.py"), json, name]));
  }
  report("Go standard-webhooks", run(go, [json]));
  report("Java com.standardwebhooks", run("java", ["-cp", java, "Verify", linesFile(deliveries)]));
} finally {
  rmSync(work, { recursive: true });
}

async function ownPackage(cases: readonly CapturedDelivery[], keys: readonly TrustedKey[]): Promise<string> {
  let refused = 0;
  for (const { name, secret, headers, body } of cases) {
    const bytes = Buffer.from(body, "base64");
    const accepts = (changed: Buffer, changedHeaders: CapturedDelivery["headers"]) =>
      verifyDelivery({ headers: changedHeaders, body: changed }, { secret, keys }).then(
        () => true,
        () => false,
      );
    if (!(await accepts(bytes, headers))) throw new Error(`${name} is refused`);
    for (const flipped of flips(bytes)) {
      if (await accepts(flipped, headers)) throw new Error(`${name} is accepted with a changed body`);
      refused += 1;
    }
    for (const header of ["webhook-id", "webhook-timestamp"]) {
      for (const flipped of flips(Buffer.from(headers[header] ?? ""))) {
        const changed = { ...headers, [header]: flipped.toString("latin1") };
        if (await accepts(bytes, changed)) throw new Error(`${name} is accepted with another ${header}`);
        refused += 1;
      }
    }
  }
  return `${cases.length} deliveries accepted, ${refused} changed ones refused`;
}

function* flips(bytes: Buffer): Generator<Buffer> {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    yield flipped;
  }
}

function linesFile(cases: readonly CapturedDelivery[]): string {
  const path = join(work, "cases.tsv");
  const lines = cases.map(({ name, secret, headers, body }) =>
    [name, secret, headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"], body].join("\t"),
  );
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

function npmFolder(): string {
  const folder = join(tools, `npm-${versionsOf(npmLibraries)}`);
  return once(folder, () => {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: npmLibraries }));
    run("npm", ["install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"], folder);
  });
}

function node(folder: string, json: string, library: string): string {
  return run(process.execPath, [join(programs, "verify.mjs"), json, library], folder);
}

function pythonProgram(): string {
  const venv = join(tools, `pypi-${versionsOf(pypiLibraries)}`);
  const program = join(venv, "bin/python");
  once(venv, () => {
    run("python3", ["-m", "venv", venv]);
    const pinned = Object.entries(pypiLibraries).map(([name, version]) => `${name}==${version}`);
    run(program, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...pinned]);
  });
  return program;
}

function goFolder(): string {
  const folder = join(tools, `go-${goVersion}`);
  return once(folder, () => {
    writeFileSync(join(folder, "go.mod"), `module vidimus/verify\n\ngo 1.22\n\nrequire ${goModule} ${goVersion}\n`);
    cpSync(join(programs, "main.go"), join(folder, "main.go"));
    run("go", ["mod", "tidy"], folder);
  });
}

function goProgram(): string {
  const folder = goFolder();
  cpSync(join(programs, "main.go"), join(folder, "main.go"));
  const binary = join(work, "verify-go");
  run("go", ["build", "-o", binary, "."], folder);
  return binary;
}

function javaClasses(): string {
  const module = run("go", ["list", "-m", "-f", "{{.Dir}}", goModule], goFolder());
  const sources = join(module, "java/src/main/java");
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".java"));
  const classes = join(work, "classes");
  run("javac", ["-d", classes, join(programs, "Verify.java"), ...files.map((file) => join(sources, file))]);
  return classes;
}

/** Fills a folder once, and again after an interruption. */
function once(folder: string, fill: () => void): string {
  const mark = join(folder, "complete");
  if (existsSync(mark)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  fill();
  writeFileSync(mark, "");
  return folder;
}

function versionsOf(libraries: Readonly<Record<string, string>>): string {
  return Object.values(libraries).join("-");
}

function report(name: string, said: string): void {
  console.log(`${name}: ${said}`);
}

function run(program: string, args: readonly string[], cwd = root): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (error) throw new Error(`${program} is needed and cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stdout}${stderr}`);
  return stdout.trim();
}
