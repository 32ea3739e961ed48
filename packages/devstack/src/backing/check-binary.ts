import { execFile } from "node:child_process";
import type { BinarySpec } from "./binaries.ts";

/** Runs `<path> --version`. Returns the reason when the program is not usable, else undefined. */
export async function faultOf(spec: BinarySpec, path: string): Promise<string | undefined> {
  const run = await runVersion(path);
  if (run.fault !== undefined) return `${path} does not run: ${run.fault}${remedy(run.fault)}`;
  const [, major, minor] = /v(\d+)\.(\d+)/.exec(run.output) ?? [];
  if (major === undefined || minor === undefined) return `${path} does not print its version`;
  const [oldestMajor, oldestMinor] = spec.oldest;
  const tooOld = Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor);
  return tooOld
    ? `${path} is version ${major}.${minor}, ${oldestMajor}.${oldestMinor} is the oldest to use`
    : undefined;
}

interface VersionRun {
  readonly output: string;
  readonly fault: string | undefined;
}

function runVersion(path: string): Promise<VersionRun> {
  const { promise, resolve } = Promise.withResolvers<VersionRun>();
  execFile(path, ["--version"], { timeout: 30_000 }, (error, stdout, stderr) => {
    const fault =
      error === null ? undefined : stderr.trim() || (error.signal ? `ended by ${error.signal}` : error.message);
    resolve({ output: stdout, fault: fault?.replaceAll(/[^\n -~]+/g, "?") });
  });
  return promise;
}

/** Each pattern matches a fault of `runVersion`; the text says what the fault means. */
const remedies: readonly (readonly [complaint: RegExp, remedy: string])[] = [
  [/lib(crypto|ssl)\.so\.3/, "it needs OpenSSL 3 (Debian, Ubuntu: apt-get install libssl3)"],
  [/libcurl\.so\.4/, "it needs libcurl 4 (Debian, Ubuntu: apt-get install libcurl4)"],
  [/liblzma\.so\.5/, "it needs liblzma 5 (Debian, Ubuntu: apt-get install liblzma5)"],
  [/GLIBC_[\d.]+' not found/, "it needs the glibc of Ubuntu 22.04, Debian 12 or newer"],
  [/SIGILL/, "it needs a processor with AVX"],
  // When the kernel refuses a program, execFile passes it to sh, which cannot read it as a script.
  [/ENOENT|ENOEXEC|Exec format|\bELF|Syntax error/, "it is built for another system"],
];

function remedy(fault: string): string {
  const found = remedies.find(([complaint]) => complaint.test(fault));
  return found === undefined ? "" : `; ${found[1]}`;
}
