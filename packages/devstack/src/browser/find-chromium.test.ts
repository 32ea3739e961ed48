import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
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

test("the Chromium that CHROMIUM_PATH names is taken", async () => {
  const named = await program(join(dir, "mine", "chrome"));
  expect(await find({ env: { CHROMIUM_PATH: named } })).toEqual({ path: named, env: {} });
});

test("a CHROMIUM_PATH that names no program is refused", async () => {
  await expect(find({ env: { CHROMIUM_PATH: join(dir, "none") } })).rejects.toThrow("CHROMIUM_PATH names");
});

const installed = async (folder: string) => void (await program(join(folder, "chromium")));

test("the pinned Chromium is installed only once", async () => {
  const install = vi.fn(installed);
  const first = await find({ install });
  expect(await find({ install })).toEqual(first);
  expect(install).toHaveBeenCalledOnce();
});

test("the pinned Chromium gets its own libraries and fonts", async () => {
  const folder = join(dir, "cache", `chromium-${chromiumPin.version}`);
  expect(await find({ install: installed })).toEqual({
    path: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_PATH: join(folder, "fonts") },
  });
});

test("where no Chromium is pinned or on PATH, the error says to install one or to set CHROMIUM_PATH", async () => {
  await expect(find({ platform: "darwin-arm64" })).rejects.toThrow("install one on PATH, or set CHROMIUM_PATH");
});

test("a Chromium on PATH is taken on a platform for which none is pinned", async () => {
  const onPath = await program(join(dir, "path", "chromium-browser"));
  expect(await find({ platform: "darwin-arm64" })).toEqual({ path: onPath, env: {} });
});
