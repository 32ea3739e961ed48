import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chromiumPin } from "./chromium-pin.ts";
import { findChromium, type FindChromiumOptions } from "./find-chromium.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "find-chromium-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function program(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "#!/bin/sh\n");
  await chmod(path, 0o755);
  return path;
}

const offline = () => Promise.reject(new Error("no registry"));
const find = (options: FindChromiumOptions = {}) =>
  findChromium({
    cacheDir: join(dir, "cache"),
    env: { PATH: join(dir, "path") },
    platform: chromiumPin.platform,
    report: () => {},
    install: offline,
    ...options,
  });

test("the Chromium that CHROMIUM_PATH names is taken, and a path without a program is refused", async () => {
  const named = await program(join(dir, "mine", "chrome"));
  expect(await find({ env: { CHROMIUM_PATH: named } })).toEqual({ path: named, env: {} });
  await expect(find({ env: { CHROMIUM_PATH: join(dir, "none") } })).rejects.toThrow("CHROMIUM_PATH names");
});

test("the pinned Chromium is installed once, and gets its own libraries and fonts", async () => {
  let installs = 0;
  const install = async (folder: string) => {
    installs += 1;
    await program(join(folder, "chromium"));
  };
  const folder = join(dir, "cache", `chromium-${chromiumPin.version}`);
  const found = {
    path: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_PATH: join(folder, "fonts") },
  };
  expect(await find({ install })).toEqual(found);
  expect(await find({ install })).toEqual(found);
  expect(installs).toBe(1);
});

test("on a platform without a pin a Chromium on PATH is taken, else the fault says what to do", async () => {
  await expect(find({ platform: "darwin-arm64" })).rejects.toThrow("set CHROMIUM_PATH");
  const onPath = await program(join(dir, "path", "chromium-browser"));
  expect(await find({ platform: "darwin-arm64" })).toEqual({ path: onPath, env: {} });
});
