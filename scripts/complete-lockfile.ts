/**
 * Adds platform packages to package-lock.json that npm left out because its registry does not carry
 * them. Without their entries `npm ci` fails, because the lockfile does not match package.json.
 * Each entry has `os` and `cpu`, so a platform fetches only its own packages.
 *
 * An entry made here has no integrity, which only a registry with the package knows. These packages
 * are listed in unverified-packages.json, and the list may only shrink. `--forget` removes them
 * from the lockfile together with the packages that depend on them, so that the following `npm
 * install --package-lock-only` looks them up again.
 *
 * Without arguments it writes the lockfile. `--check` fails when an entry is missing, or when the
 * packages without integrity are not those of the list.
 */
import { readFileSync, writeFileSync } from "node:fs";
import unverified from "./unverified-packages.json" with { type: "json" };

interface LockEntry {
  version?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const path = "package-lock.json";
const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, LockEntry> };

const systems = new Set([
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
]);
/** From the name of a processor in package names to npm's name of it, where they differ. */
const processors: Readonly<Record<string, string>> = { aarch64: "arm64", armv7: "arm", loongarch64: "loong64" };
const knownProcessors = new Set(["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"]);

/** Derives the platform from a package's name, for example `@oxfmt/binding-linux-arm64-musl`. */
function platformOf(name: string): Pick<LockEntry, "os" | "cpu" | "libc"> {
  const words = name.split(/[/-]/);
  const os = words.filter((word) => systems.has(word));
  const cpu = words.map((word) => processors[word] ?? word).filter((word) => knownProcessors.has(word));
  const libc = words.some((word) => word.startsWith("musl")) ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return { os, cpu, ...(libc.length > 0 ? { libc } : {}) };
}

const isCheck = process.argv.includes("--check");

if (process.argv.includes("--forget")) forgetUnverified();
else complete();

function forgetUnverified(): void {
  const names = new Set(namesWithoutIntegrity());
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).filter(([path, { optionalDependencies = {} }]) => {
      const dependsOnThem = path !== "" && Object.keys(optionalDependencies).some((name) => names.has(name));
      return !dependsOnThem && !names.has(nameOf(path));
    }),
  );
  write();
}

function complete(): void {
  const added = addMissing();
  if (isCheck) {
    report(added, "package-lock.json lacks platform packages, run `npm run lock`");
    const found = namesWithoutIntegrity();
    const fresh = found.filter((name) => !unverified.includes(name));
    report(fresh, "package-lock.json has no integrity for packages that unverified-packages.json does not list");
    const verified = unverified.filter((name) => !found.includes(name));
    report(verified, "unverified-packages.json lists packages that have an integrity or are gone, remove them");
  } else if (added.length > 0) {
    write();
    console.log(`added ${added.length} platform packages`);
  }
}

function report(names: readonly string[], fault: string): void {
  if (names.length === 0) return;
  console.error(`${fault}: ${names.join(", ")}`);
  process.exitCode = 1;
}

function addMissing(): string[] {
  const added: string[] = [];
  for (const parent of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      const { os, cpu, libc } = platformOf(name);
      // Needs an exact version and a name with a platform; an entry cannot be derived from anything
      // else.
      if (lock.packages[`node_modules/${name}`] || !/^\d/.test(version) || !os?.length || !cpu?.length) continue;
      const flags = { ...(parent.dev ? { dev: true } : {}), optional: true };
      lock.packages[`node_modules/${name}`] = { version, cpu, ...flags, os, ...(libc ? { libc } : {}) };
      added.push(name);
    }
  }
  return added;
}

function namesWithoutIntegrity(): string[] {
  return Object.entries(lock.packages)
    .filter(([path, { integrity, link }]) => path.includes("node_modules/") && !link && integrity === undefined)
    .map(([path]) => nameOf(path));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function write(): void {
  const [root, ...rest] = Object.entries(lock.packages);
  lock.packages = Object.fromEntries(
    [root, ...rest.toSorted(([a], [b]) => (a < b ? -1 : 1))].filter((entry) => entry !== undefined),
  );
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
}
