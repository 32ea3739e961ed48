import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readOptions } from "./command-line.ts";
import { projectDir } from "./paths.ts";

const all = ["fresh", "mtls", "replicas", "state"] as const;
const own = process.argv;
afterEach(() => {
  process.argv = own;
});

function read(words: string, known: Parameters<typeof readOptions>[0] = all) {
  process.argv = [...own.slice(0, 2), ...words.split(" ").filter((word) => word !== "")];
  return readOptions(known);
}

test("without options a start is not fresh, has no mTLS, uses .vidimus and one process of each service", () => {
  expect(read("")).toEqual({ fresh: false, mtls: false, replicas: {}, state: join(projectDir, ".vidimus") });
});

test("--state is relative to the working directory", () => {
  expect(read("--state other")).toMatchObject({ state: resolve("other") });
});

test("every option is read", () => {
  expect(read("--fresh --mtls --replicas documents=3,gateway=2 --state /other")).toEqual({
    fresh: true,
    mtls: true,
    replicas: { documents: 3, gateway: 2 },
    state: "/other",
  });
});

test.each([
  ["--clean", "'--clean'"],
  ["stray", "'stray'"],
  ["--state", "'--state <value>'"],
  ["--replicas mongod=2", "mongod"],
])("the command line %j is refused, and the message lists the options", (words, named) => {
  expect(() => read(words)).toThrow(named);
  expect(() => read(words)).toThrow("there is --fresh, --mtls, --replicas SERVICE=COUNT,…, --state FOLDER");
});

const stop = (...words: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "stop.ts"), ...words], { encoding: "utf8" });

test("npm stop fails with one line about a fault of its command line", () => {
  expect(stop("--fresh")).toMatchObject({
    status: 1,
    stderr: "Unknown option '--fresh'; there is --state FOLDER\n",
  });
});

test("npm stop succeeds with a message where no dev stack runs", () => {
  const folder = mkdtempSync(join(tmpdir(), "no-stack-"));
  expect(stop("--state", folder)).toMatchObject({ status: 0, stdout: "no dev stack runs here\n" });
  rmSync(folder, { recursive: true });
});
