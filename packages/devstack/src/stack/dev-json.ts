import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Replica } from "./replicas.ts";
import type { StackPorts } from "./service-plan.ts";
import { type ServiceName, serviceNames, type ServicePorts } from "./program-names.ts";

/** `.vidimus/dev.json`, by which tools find a running dev stack. Only its owner may read it. */
export interface DevJson {
  /** Base URL of the public API. */
  readonly gateway: string;
  /** `host:port` of the teams doors, and under `signing` of signing's admin door. */
  readonly grpc: DoorAddresses;
  /** `host:port` of the mesh doors. */
  readonly mesh: DoorAddresses;
  /** Base URLs of the ops ports, including the console's if there is one. */
  readonly ops: Readonly<Record<ServiceName, string> & { console?: string }>;
  /** Origin of the console's pages; undefined in a stack without console. */
  readonly console?: string;
  /**
   * From name, for example `documents-2`, to addresses: the processes besides the first of each
   * service. Undefined when there are none.
   */
  readonly replicas?: Readonly<Record<string, ReplicaAddresses>>;
  readonly mongodb: string;
  readonly nats: string;
  /** The operator's certificate, which tools use; undefined in a stack without certificates. */
  readonly tls?: TlsFiles;
  /** Tenants, each with a key that has every scope. */
  readonly tenants: readonly DevTenant[];
  /** Pids of the processes that the stack started, by name; not that of the stack itself. */
  readonly pids: Readonly<Record<string, number>>;
}

/** Addresses of a further process of a service, in the form of those of the first. */
interface ReplicaAddresses {
  /** Present for a gateway only. */
  readonly gateway?: string;
  readonly grpc: string;
  readonly mesh: string;
  readonly ops: string;
}

/**
 * Addresses of one kind of door, one for each service. The gateway's is called `access`, after its
 * RPC service.
 */
type DoorAddresses = Readonly<Record<"access" | "documents" | "phrases" | "signing" | "delivery", string>>;

export interface DevTenant {
  readonly id: string;
  readonly apiKey: string;
}

const fileName = "dev.json";

/** Undefined when the file is missing or is no JSON. */
export async function readDevJson(stateDir: string): Promise<DevJson | undefined> {
  try {
    return JSON.parse(await readFile(join(stateDir, fileName), "utf8")) as DevJson;
  } catch {
    return undefined;
  }
}

/** Replaces the file by a rename, so that a reader never sees half of it. */
export async function writeDevJson(stateDir: string, content: DevJson): Promise<void> {
  const draft = join(stateDir, `${fileName}.${randomUUID()}`);
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, join(stateDir, fileName));
}

/** Returns the addresses of dev.json for the given ports, without the console's. */
export function devAddresses(
  ports: StackPorts,
  replicas: readonly Replica[] = [],
): Pick<DevJson, "gateway" | "grpc" | "mesh" | "ops" | "console" | "replicas"> {
  const doors = (kind: "grpc" | "mesh"): DoorAddresses => {
    const address = (name: ServiceName) => `127.0.0.1:${ports[name][kind]}`;
    return {
      access: address("gateway"),
      documents: address("documents"),
      phrases: address("phrases"),
      signing: address("signing"),
      delivery: address("delivery"),
    };
  };
  const ops = serviceNames.map((name) => [name, `http://127.0.0.1:${ports[name].ops}`] as const);
  return {
    gateway: `http://127.0.0.1:${ports.gateway.http}`,
    grpc: doors("grpc"),
    mesh: doors("mesh"),
    ops: Object.fromEntries(ops) as DevJson["ops"],
    ...(replicas.length > 0 && {
      replicas: Object.fromEntries(replicas.map((each) => [each.name, replicaAddresses(each.ports)])),
    }),
  };
}

function replicaAddresses({ grpc, mesh, ops, http }: ServicePorts): ReplicaAddresses {
  return {
    ...(http !== undefined && { gateway: `http://127.0.0.1:${http}` }),
    grpc: `127.0.0.1:${grpc}`,
    mesh: `127.0.0.1:${mesh}`,
    ops: `http://127.0.0.1:${ops}`,
  };
}
