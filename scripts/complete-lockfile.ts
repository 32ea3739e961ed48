/**
 * Adds to package-lock.json the platform packages that npm left out, because the registry it asked does not carry
 * them. Without an entry each, `npm ci` calls the lockfile out of step and stops. With `os` and `cpu` set, a platform
 * that does not need a package never fetches it.
 *
 * `node scripts/complete-lockfile.ts` writes; with `--check` it fails when something would have to be written.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface LockEntry {
  version?: string;
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
/** What npm calls a processor, by what package names call it. */
const processors: Readonly<Record<string, string>> = { aarch64: "arm64", armv7: "arm", loongarch64: "loong64" };
const knownProcessors = new Set(["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"]);

/** Reads the platform off a package's name, for example `@oxfmt/binding-linux-arm64-musl`. */
function platformOf(name: string): Pick<LockEntry, "os" | "cpu" | "libc"> {
  const words = name.split(/[/-]/);
  const os = words.filter((word) => systems.has(word));
  const cpu = words.map((word) => processors[word] ?? word).filter((word) => knownProcessors.has(word));
  const libc = words.some((word) => word.startsWith("musl")) ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return { os, cpu, ...(libc.length > 0 ? { libc } : {}) };
}

const added: string[] = [];
for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const { os, cpu, libc } = platformOf(name);
    // Only exact versions of packages whose name says their platform; anything else is not for us to guess.
    if (lock.packages[`node_modules/${name}`] || !/^\d/.test(version) || !os?.length || !cpu?.length) continue;
    const flags = { ...(parent.dev ? { dev: true } : {}), optional: true };
    lock.packages[`node_modules/${name}`] = { version, cpu, ...flags, os, ...(libc ? { libc } : {}) };
    added.push(name);
  }
}

if (added.length > 0 && process.argv.includes("--check")) {
  console.error(`package-lock.json lacks ${added.length} platform packages, run \`npm run lock\`: ${added.join(", ")}`);
  process.exitCode = 1;
} else if (added.length > 0) {
  const [root, ...rest] = Object.entries(lock.packages);
  lock.packages = Object.fromEntries(
    [root, ...rest.toSorted(([a], [b]) => (a < b ? -1 : 1))].filter((e) => e !== undefined),
  );
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`added ${added.length} platform packages`);
}
