import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ServiceName, serviceNames, type StackPorts } from "./service-plan.ts";

/** What tools read to find a running dev stack; `.vidimus/dev.json`, readable by its owner only. */
export interface DevJson {
  /** Base URL of the public API. */
  readonly gateway: string;
  /** `host:port` of the internal services; `access` is served by the gateway. */
  readonly grpc: Readonly<Record<"access" | "documents" | "phrases" | "signing" | "delivery", string>>;
  /** Base URLs of the ops ports. */
  readonly ops: Readonly<Record<ServiceName, string>>;
  readonly mongodb: string;
  readonly nats: string;
  /** Both keys hold every scope. */
  readonly tenants: readonly DevTenant[];
  /** Of whatever the stack itself runs; the stack's own is not among them. */
  readonly pids: Readonly<Record<string, number>>;
}

/** A seeded tenant and its key. */
export interface DevTenant {
  readonly id: string;
  readonly apiKey: string;
}

const fileName = "dev.json";

/** The file as it stands; undefined when there is none, or none that can be read. */
export async function readDevJson(stateDir: string): Promise<DevJson | undefined> {
  try {
    return JSON.parse(await readFile(join(stateDir, fileName), "utf8")) as DevJson;
  } catch {
    return undefined;
  }
}

/** Replaces the file in one step, so that nobody ever reads half of it. */
export async function writeDevJson(stateDir: string, content: DevJson): Promise<void> {
  const draft = join(stateDir, `${fileName}.${randomUUID()}`);
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, join(stateDir, fileName));
}

/** The addresses of dev.json for a set of ports. */
export function devAddresses(ports: StackPorts): Pick<DevJson, "gateway" | "grpc" | "ops"> {
  const grpc = (name: ServiceName) => `127.0.0.1:${ports[name].grpc}`;
  const ops = serviceNames.map((name) => [name, `http://127.0.0.1:${ports[name].ops}`] as const);
  return {
    gateway: `http://127.0.0.1:${ports.gateway.http}`,
    grpc: {
      access: grpc("gateway"),
      documents: grpc("documents"),
      phrases: grpc("phrases"),
      signing: grpc("signing"),
      delivery: grpc("delivery"),
    },
    ops: Object.fromEntries(ops) as DevJson["ops"],
  };
}
