/**
 * Runs verification libraries that others wrote on deliveries of ours: each must accept every one as
 * it is sent, and refuse it with any one bit of its body, its id or its time flipped. Part of
 * `npm run test:verifiers`.
 *
 * Installs pinned libraries from npm, PyPI and the Go module proxy into .vidimus/libraries once. The
 * Java library is compiled from its sources in the same Go module, because its jar on Maven Central
 * is empty. Needs python3 with venv, Go and a JDK.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyDelivery } from "../packages/verify/src/verify.ts";
import { webhookHeaders } from "../services/delivery/src/domain/webhook-headers.ts";
import { vector } from "../services/delivery/src/domain/webhook-vector.ts";

const npmLibraries = { standardwebhooks: "1.1.1", svix: "2.5.0" };
const pypiLibraries = { standardwebhooks: "1.1.0", svix: "2.9.1" };
const goModule = "github.com/standard-webhooks/standard-webhooks/libraries";
const goVersion = "v0.0.1";

const root = join(import.meta.dirname, "..");
const tools = join(root, ".vidimus/libraries");
const programs = join(import.meta.dirname, "verifiers/libraries");
mkdirSync(tools, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "vidimus-libraries-"));

/** A delivery as it is sent. */
interface Sent {
  readonly name: string;
  /** As the receiver of this delivery knows it. */
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In base64. */
  readonly body: string;
}

try {
  const cases = sentDeliveries();
  report("packages/verify", await ownPackage(cases));
  const json = join(work, "cases.json");
  writeFileSync(json, JSON.stringify(cases));
  const npm = npmFolder();
  for (const name of Object.keys(npmLibraries)) report(`npm ${name}`, node(npm, json, name));
  const python = pythonProgram();
  for (const name of Object.keys(pypiLibraries)) {
    report(`PyPI ${name}`, run(python, [join(programs, "verify.py"), json, name]));
  }
  report("Go standard-webhooks", run(goProgram(), [json]));
  report("Java com.standardwebhooks", run("java", ["-cp", javaClasses(), "Verify", linesFile(cases)]));
} finally {
  rmSync(work, { recursive: true });
}

/** Deliveries with the headers that delivery gives them: of one secret, and of two. */
function sentDeliveries(): Sent[] {
  const older = Buffer.alloc(32, 9);
  const body = Buffer.from(vector.bodyBase64, "base64");
  const snapshot = { webhookId: vector.headers["webhook-id"], event: "snapshot.usable", keyId: vector.keyId, body };
  const id = "png_01980f6e3c1b7f429b1e2f6f0a3d5c77";
  const ping = { webhookId: id, event: "endpoint.ping", body: Buffer.from(`{"id":"${id}","type":"endpoint.ping"}`) };
  const at = new Date();
  const send = (
    name: string,
    payload: typeof snapshot | typeof ping,
    secret: Buffer,
    secrets: [Buffer, ...Buffer[]],
  ) => ({
    name,
    secret: `whsec_${secret.toString("base64")}`,
    headers: webhookHeaders({ payload, endpoint: { secrets, headers: {} }, deliveryId: "d", attempt: 1, at }),
    body: payload.body.toString("base64"),
  });
  return [
    send("a snapshot", snapshot, vector.secret, [vector.secret]),
    send("a snapshot during a rotation, for the newer secret", snapshot, vector.secret, [vector.secret, older]),
    send("a snapshot during a rotation, for the older secret", snapshot, older, [vector.secret, older]),
    send("a ping", ping, vector.secret, [vector.secret]),
  ];
}

/** The package for receivers. */
async function ownPackage(cases: readonly Sent[]): Promise<string> {
  const { keyId, publicKeyBase64: publicKey } = vector;
  const validity = { validFrom: "2026-11-01T00:00:00.000Z", validUntil: null };
  const keys = [{ keyId, algorithm: "ed25519", publicKey, ...validity }];
  let refused = 0;
  for (const { name, secret, headers, body } of cases) {
    const bytes = Buffer.from(body, "base64");
    const accepts = (changed: Buffer, changedHeaders: Sent["headers"]) =>
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

/** Copies with one bit flipped each. */
function* flips(bytes: Buffer): Generator<Buffer> {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    yield flipped;
  }
}

function linesFile(cases: readonly Sent[]): string {
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

/** The folder with the Go program and its module, which has the sources in Java as well. */
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

/** Fills a folder once. A fill that was cut short is done again. */
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

/** @returns what the program wrote. @throws Error with it when the program failed */
function run(program: string, args: readonly string[], cwd = root): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (error) throw new Error(`${program} is needed and cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stdout}${stderr}`);
  return stdout.trim();
}
