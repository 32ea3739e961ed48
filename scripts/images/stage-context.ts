import { execFileSync } from "node:child_process";
import { ownBase } from "./base-image.ts";
import { describeImage, type ImageContent } from "./bill-of-materials.ts";
import { type DebianPackage, debianPackagesOf } from "./debian-packages.ts";
import { checkNode, nodeReleaseFor } from "./node-release.ts";
import { chmod, copyFile, cp, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");

export const services = ["gateway", "documents", "phrases", "signing", "delivery"] as const;

export type Service = (typeof services)[number];

/** The console is built like a service, but `openPlatform` does not start it. */
export const images = [...services, "console"] as const;

export type Image = (typeof images)[number];

export function workspaceOf(image: Image): string {
  return image === "console" ? "packages/console" : `services/${image}`;
}

const user = 65_532;

/**
 * Prepares the context of deploy/images/Containerfile: `node/`, `services/IMAGE/` for each image,
 * and `base/` unless another base is named. Needs npm and its registry, on a Linux machine with the
 * architecture of the images.
 *
 * @param base `ownBase`, or the name of an image with its digest
 */
export async function stageContext(context: string, base: string): Promise<void> {
  const node = nodeReleaseFor(process.arch);
  await checkNode(process.execPath, node);
  await rm(context, { recursive: true, force: true });
  const packages = [...(await stageNode(context)), ...(await stageBase(context, base))];
  const content: ImageContent = {
    node,
    versions: process.versions,
    packages,
    system: await readSystem(),
    ...(base === ownBase ? {} : { base }),
  };
  for (const image of images) await stageImage(context, image, content);
}

/** Stages Node and its libraries that a base may lack; returns the packages of these libraries. */
async function stageNode(context: string): Promise<DebianPackage[]> {
  await stageFile(process.execPath, join(context, "node/usr/bin/node"));
  return stageLibraries(
    libraries().filter((path) => path.includes("libatomic")),
    join(context, "node"),
  );
}

/**
 * Stages the recipe's own base: libraries of Node, one user without privileges, and the
 * configuration of name resolution. No shell. Returns the packages of the libraries; none for
 * another base.
 */
async function stageBase(context: string, wanted: string): Promise<DebianPackage[]> {
  if (wanted !== ownBase) return [];
  const base = join(context, "base");
  const packages = await stageLibraries(
    libraries().filter((path) => !path.includes("libatomic")),
    base,
  );
  await mkdir(join(base, "etc"), { recursive: true });
  await stageFile("/etc/os-release", join(base, "etc/os-release"));
  await writeFile(join(base, "etc/passwd"), `nonroot:x:${user}:${user}:nonroot:/tmp:/sbin/nologin\n`);
  await writeFile(join(base, "etc/group"), `nonroot:x:${user}:\n`);
  await writeFile(join(base, "etc/nsswitch.conf"), "hosts: files dns\n");
  await mkdir(join(base, "tmp"));
  await chmod(join(base, "tmp"), 0o1777);
  return packages;
}

/**
 * Copies libraries with their packages' entries in dpkg's database, one file for each as in
 * distroless images, where scanners look for them.
 */
export async function stageLibraries(paths: readonly string[], into: string): Promise<DebianPackage[]> {
  for (const path of paths) await stageFile(path, join(into, path));
  const packages = debianPackagesOf(paths);
  const database = join(into, "var/lib/dpkg/status.d");
  await mkdir(database, { recursive: true });
  for (const { name, entry } of packages) await writeFile(join(database, name), `${entry}\n`);
  return packages;
}

async function readSystem(): Promise<ImageContent["system"]> {
  const text = await readFile("/etc/os-release", "utf8");
  const value = (name: string) => new RegExp(`^${name}="?([^"\n]+)"?$`, "m").exec(text)?.[1] ?? "";
  return { id: value("ID"), version: value("VERSION_ID") };
}

/** Returns the paths of the shared libraries that this Node loads, and of its loader. */
export function libraries(): string[] {
  const lines = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  return Array.from(lines.matchAll(/(\/\S+) \(0x/g), ([, path = ""]) => path);
}

async function stageFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(await realpath(from), to);
}

async function stageImage(context: string, image: Image, content: ImageContent): Promise<void> {
  const app = join(context, "services", image);
  await mkdir(app, { recursive: true });
  const workspaces = await neededBy(workspaceOf(image));
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) await copyFile(join(root, file), join(app, file));
  for (const workspace of workspaces) await copySource(join(root, workspace), join(app, workspace));
  // The gateway serves the guides.
  if (image === "gateway") await cp(join(root, "docs"), join(app, "docs"), { recursive: true });
  npm(app, "ci", "--omit=dev", "--omit=optional", "--ignore-scripts", "--workspace", workspaceOf(image));
  await describe(app, workspaces, content);
}

/**
 * Returns the workspaces that a workspace needs at run time, directly or not, and last the
 * workspace itself. An image has no others: `npm ci` would not install them, and `npm sbom` fails
 * when one is not installed.
 */
export async function neededBy(workspace: string): Promise<string[]> {
  const { dependencies = {} } = JSON.parse(await readFile(join(root, workspace, "package.json"), "utf8")) as {
    dependencies?: Readonly<Record<string, string>>;
  };
  const own = Object.keys(dependencies).filter((name) => name.startsWith("@vidimus/"));
  const needed = await Promise.all(own.map((name) => neededBy(name.replace("@vidimus", "packages"))));
  return [...new Set([...needed.flat(), workspace])];
}

/** Copies a workspace without its tests and their tools. */
async function copySource(from: string, to: string): Promise<void> {
  const isTest = /\.test\.ts$|\/testing(\/|$)|\/test$/;
  await cp(from, to, { recursive: true, filter: (path) => !isTest.test(path.slice(from.length)) });
}

/**
 * Writes sbom.cdx.json, the list of everything in the image. package.json then names only the
 * workspaces in the image; the lockfile names all, so it is left out.
 */
async function describe(app: string, workspaces: readonly string[], content: ImageContent): Promise<void> {
  const { name, version, license, type } = JSON.parse(await readFile(join(app, "package.json"), "utf8")) as Json;
  await writeFile(
    join(app, "package.json"),
    JSON.stringify({ name, version, license, type, private: true, workspaces }),
  );
  for (const workspace of workspaces) await dropDevDependencies(join(app, workspace, "package.json"));
  await rm(join(app, "package-lock.json"));
  const listed = JSON.parse(npm(app, "sbom", "--sbom-format=cyclonedx")) as object;
  await writeFile(join(app, "sbom.cdx.json"), JSON.stringify(describeImage(listed, content), null, 2));
  await rm(join(app, ".npmrc"));
}

/** `npm sbom` fails while a dependency is missing, as those for development are here. */
async function dropDevDependencies(file: string): Promise<void> {
  const { devDependencies: _, ...manifest } = JSON.parse(await readFile(file, "utf8")) as Json;
  await writeFile(file, JSON.stringify(manifest, null, 2));
}

type Json = Readonly<Record<string, unknown>>;

function npm(cwd: string, ...args: readonly string[]): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
