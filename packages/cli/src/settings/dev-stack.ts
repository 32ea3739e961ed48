import { dirname, join } from "node:path";
import { CliError } from "../failure.ts";
import { isRecord, readJsonFile } from "./json-file.ts";
import type { SettingValues } from "./setting.ts";

/** What a running dev stack says about itself. */
export interface DevStack {
  /** The file it was read from. */
  readonly file: string;
  readonly addresses: Omit<SettingValues, "tenant" | "role" | "key">;
  /** Tenant to API key. */
  readonly keys: ReadonlyMap<string, string>;
}

/**
 * Finds `.vidimus/dev.json` in a folder or the nearest one above it; undefined when there is none.
 *
 * @throws CliError when the nearest file cannot be read or holds something else
 */
export async function findDevStack(folder: string): Promise<DevStack | undefined> {
  const file = join(folder, ".vidimus", "dev.json");
  const content = await readJsonFile(file);
  if (content) return readDevStack(file, content);
  const parent = dirname(folder);
  return parent === folder ? undefined : findDevStack(parent);
}

function readDevStack(file: string, content: Readonly<Record<string, unknown>>): DevStack {
  const { gateway, grpc, tenants, ops, mongodb, nats } = content;
  if (typeof gateway !== "string" || !isRecord(grpc) || !Array.isArray(tenants)) {
    throw new CliError(`${file} is not what a dev stack writes: start it again with \`npm start\``);
  }
  const addresses: DevStack["addresses"] = { gateway };
  for (const name of ["access", "documents", "delivery", "phrases", "signing"] as const) {
    const address = grpc[name];
    if (typeof address === "string") addresses[name] = address;
  }
  if (isRecord(ops)) addresses.ops = Array.from(Object.entries(ops), ([name, url]) => `${name}=${String(url)}`).join();
  if (typeof mongodb === "string") addresses.mongodb = mongodb;
  if (typeof nats === "string") addresses.nats = nats;
  return { file, addresses, keys: new Map(tenants.flatMap(readTenant)) };
}

function readTenant(tenant: unknown): [string, string][] {
  if (!isRecord(tenant)) return [];
  const { id, apiKey } = tenant;
  return typeof id === "string" && typeof apiKey === "string" ? [[id, apiKey]] : [];
}
