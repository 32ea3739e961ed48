import { execFileSync } from "node:child_process";
import { chmod, copyFile, cp, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The services that become images. */
export const services = ["gateway", "documents", "phrases", "signing", "delivery"] as const;

export type Service = (typeof services)[number];

/** Every image. The console is no service: nothing calls it. */
export const images = [...services, "console"] as const;

export type Image = (typeof images)[number];

/** Folder of an image's program in the checkout. */
export function workspaceOf(image: Image): string {
  return image === "console" ? "packages/console" : `services/${image}`;
}

const user = 65_532;

/**
 * Prepares the context of deploy/images/Containerfile: `base/`, `node/` and one folder an image.
 * Needs npm and its registry, on a Linux machine with the architecture of the images.
 */
export async function stageContext(context: string): Promise<void> {
  await rm(context, { recursive: true, force: true });
  await stageNode(context);
  await stageBase(context);
  for (const image of images) await stageImage(context, image);
}

async function stageNode(context: string): Promise<void> {
  await place(process.execPath, join(context, "node/usr/bin/node"));
  const atomic = libraries().find((path) => path.includes("libatomic"));
  if (atomic) await place(atomic, join(context, "node", atomic));
}

/** Libraries of Node, one user without privileges, and how names are resolved. No shell. */
async function stageBase(context: string): Promise<void> {
  const base = join(context, "base");
  for (const path of libraries()) await place(path, join(base, path));
  await mkdir(join(base, "etc"), { recursive: true });
  await writeFile(join(base, "etc/passwd"), `nonroot:x:${user}:${user}:nonroot:/tmp:/sbin/nologin\n`);
  await writeFile(join(base, "etc/group"), `nonroot:x:${user}:\n`);
  await writeFile(join(base, "etc/nsswitch.conf"), "hosts: files dns\n");
  await mkdir(join(base, "tmp"));
  await chmod(join(base, "tmp"), 0o1777);
}

/** Returns the paths of the shared libraries that this Node loads, and of its loader. */
function libraries(): string[] {
  const lines = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  return Array.from(lines.matchAll(/(\/\S+) \(0x/g), ([, path = ""]) => path);
}

async function place(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(await realpath(from), to);
}

/** Installs what one program needs at run time, and nothing of the others. */
async function stageImage(context: string, image: Image): Promise<void> {
  const app = join(context, "services", image);
  await mkdir(app, { recursive: true });
  const workspaces = ["packages/contracts", "packages/kit", workspaceOf(image)];
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) await copyFile(join(root, file), join(app, file));
  for (const workspace of workspaces) await copySource(join(root, workspace), join(app, workspace));
  // The gateway serves the guides.
  if (image === "gateway") await cp(join(root, "docs"), join(app, "docs"), { recursive: true });
  npm(app, "ci", "--omit=dev", "--omit=optional", "--ignore-scripts", "--workspace", workspaceOf(image));
  await describe(app, workspaces);
}

/** Copies a workspace without its tests and their tools. */
async function copySource(from: string, to: string): Promise<void> {
  const isTest = /\.test\.ts$|\/testing(\/|$)|\/test$/;
  await cp(from, to, { recursive: true, filter: (path) => !isTest.test(path.slice(from.length)) });
}

/**
 * Writes sbom.cdx.json, the list of all packages in the image. package.json then names only the
 * workspaces that are there; the lockfile names all, so it stays out.
 */
async function describe(app: string, workspaces: readonly string[]): Promise<void> {
  const { name, version, license, type } = JSON.parse(await readFile(join(app, "package.json"), "utf8")) as Json;
  await writeFile(
    join(app, "package.json"),
    JSON.stringify({ name, version, license, type, private: true, workspaces }),
  );
  await rm(join(app, "package-lock.json"));
  await writeFile(join(app, "sbom.cdx.json"), npm(app, "sbom", "--sbom-format=cyclonedx"));
  await rm(join(app, ".npmrc"));
}

type Json = Readonly<Record<string, unknown>>;

function npm(cwd: string, ...args: readonly string[]): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
