import { execFileSync } from "node:child_process";

/** A package of Debian or Ubuntu that is installed on the building machine. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** Name of the source package, which advisories use. */
  readonly source: string;
  /** Its entry in dpkg's database. */
  readonly entry: string;
}

/**
 * The packages that contain the files, without duplicates.
 *
 * @throws Error when there is no dpkg, or when a file is in no package, because advisories name
 * packages
 */
export function debianPackagesOf(files: readonly string[]): DebianPackage[] {
  const names = new Set(files.map(ownerOf));
  return Array.from(names, describe).toSorted((one, other) => one.name.localeCompare(other.name));
}

/** `dpkg --search` knows a file by only one of its two paths, with or without `/usr`. */
function ownerOf(file: string): string {
  const paths = [file, file.startsWith("/usr/") ? file.slice("/usr".length) : `/usr${file}`];
  for (const path of paths) {
    const owner = tryDpkg("dpkg", "--search", path);
    if (owner !== undefined) return owner.slice(0, owner.lastIndexOf(": "));
  }
  throw new Error(`no Debian package has ${file}: build on Debian or Ubuntu, or name a base by its digest`);
}

function describe(name: string): DebianPackage {
  const format = "${Package}\\t${Version}\\t${Architecture}\\t${source:Package}";
  const [bare = name, version = "", architecture = "", source = ""] = (
    tryDpkg("dpkg-query", "--show", `--showformat=${format}`, name) ?? ""
  ).split("\t");
  const entry = tryDpkg("dpkg-query", "--status", name);
  if (entry === undefined) throw new Error(`dpkg does not know ${name}`);
  return { name: bare, version, architecture, source, entry };
}

function tryDpkg(program: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}
