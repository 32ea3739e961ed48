import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "../cli-error.ts";
import { isJsonObject } from "../json-object.ts";
import { readJsonFile } from "./json-file.ts";
import { requireOwnFile } from "./own-file.ts";
import type { SettingValues } from "./setting-rules.ts";

/** Addresses, certificate and keys that a dev stack wrote, which may have stopped since. */
export interface DevStack {
  /** Path of the `dev.json` that states them. */
  readonly file: string;
  readonly addresses: Omit<SettingValues, "tenant" | "role" | "key">;
  /** From tenant id to API key. */
  readonly keys: ReadonlyMap<string, string>;
}

/** A folder with one of these is the root of a checkout, or of an unpacked archive of one. */
const rootMarkers = [".git", "package-lock.json"];

/**
 * Finds `.vidimus/dev.json` in a folder or the nearest one above it, up to the root of the
 * checkout. Outside of a checkout it looks in the folder only, because other users may put such a
 * file into a folder above, such as `/tmp`. Undefined when there is none.
 *
 * @throws CliError when the nearest file belongs to another user or is open to others, cannot be
 * read, or is malformed
 */
export async function findDevStack(folder: string): Promise<DevStack | undefined> {
  for (const each of foldersUpToRoot(folder)) {
    const file = join(each, ".vidimus", "dev.json");
    await requireOwnFile(file);
    const content = await readJsonFile(file);
    if (content) return readDevStack(file, content);
  }
  return undefined;
}

function foldersUpToRoot(folder: string): string[] {
  const above: string[] = [];
  for (let each = folder; ; each = dirname(each)) {
    above.push(each);
    if (rootMarkers.some((marker) => existsSync(join(each, marker)))) return above;
    if (dirname(each) === each) return [folder];
  }
}

function readDevStack(file: string, content: Readonly<Record<string, unknown>>): DevStack {
  const { gateway, grpc, mesh, tenants, ops, mongodb, nats, tls, console: origin } = content;
  if (typeof gateway !== "string" || !isJsonObject(grpc) || !Array.isArray(tenants)) {
    throw new CliError(`${file} is not what a dev stack writes: start it again with \`npm start\``);
  }
  const addresses: DevStack["addresses"] = { gateway };
  for (const name of ["access", "documents", "delivery", "phrases", "signing"] as const) {
    const address = grpc[name];
    if (typeof address === "string") addresses[name] = address;
  }
  if (typeof origin === "string") addresses["console-url"] = origin;
  if (isJsonObject(mesh)) addresses.mesh = toList(mesh);
  if (isJsonObject(ops)) addresses.ops = toList(ops);
  if (isJsonObject(tls)) Object.assign(addresses, readCertificate(tls));
  if (typeof mongodb === "string") addresses.mongodb = mongodb;
  if (typeof nats === "string") addresses.nats = nats;
  return { file, addresses, keys: new Map(tenants.flatMap(readTenant)) };
}

/** The settings of the operator's certificate; none for a stack without certificates. */
function readCertificate({ certFile, keyFile, caFile }: Readonly<Record<string, unknown>>): DevStack["addresses"] {
  if (typeof certFile !== "string" || typeof keyFile !== "string" || typeof caFile !== "string") return {};
  return { cert: certFile, keyfile: keyFile, ca: caFile };
}

function toList(addresses: Readonly<Record<string, unknown>>): string {
  return Array.from(Object.entries(addresses), ([name, address]) => `${name}=${String(address)}`).join();
}

function readTenant(tenant: unknown): [string, string][] {
  if (!isJsonObject(tenant)) return [];
  const { id, apiKey } = tenant;
  return typeof id === "string" && typeof apiKey === "string" ? [[id, apiKey]] : [];
}
