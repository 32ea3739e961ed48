import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { type DatabaseUser, userUrl } from "../backing/database-users.ts";
import { DevstackError } from "../errors.ts";
import type { DevIdentities } from "./dev-identities.ts";
import type { Replica } from "./replicas.ts";
import { type ProgramName, programNames, type ServiceName, type ServicePorts } from "./program-names.ts";

export type StackPorts = Readonly<Record<ServiceName, ServicePorts>>;

interface PortSetting {
  readonly service: ServiceName;
  readonly kind: keyof ServicePorts;
  readonly variable: string;
  readonly fallback: number;
}

/**
 * Every port of the five services. ACCESS_GRPC_PORT and ACCESS_MESH_PORT are named after the
 * gateway's RPC service, access.
 */
export const portSettings: readonly PortSetting[] = [
  { service: "gateway", kind: "http", variable: "GATEWAY_PORT", fallback: 8080 },
  { service: "gateway", kind: "grpc", variable: "ACCESS_GRPC_PORT", fallback: 7050 },
  { service: "documents", kind: "grpc", variable: "DOCUMENTS_GRPC_PORT", fallback: 7051 },
  { service: "phrases", kind: "grpc", variable: "PHRASES_GRPC_PORT", fallback: 7052 },
  { service: "signing", kind: "grpc", variable: "SIGNING_GRPC_PORT", fallback: 7053 },
  { service: "delivery", kind: "grpc", variable: "DELIVERY_GRPC_PORT", fallback: 7054 },
  { service: "gateway", kind: "mesh", variable: "ACCESS_MESH_PORT", fallback: 7150 },
  { service: "documents", kind: "mesh", variable: "DOCUMENTS_MESH_PORT", fallback: 7151 },
  { service: "phrases", kind: "mesh", variable: "PHRASES_MESH_PORT", fallback: 7152 },
  { service: "signing", kind: "mesh", variable: "SIGNING_MESH_PORT", fallback: 7153 },
  { service: "delivery", kind: "mesh", variable: "DELIVERY_MESH_PORT", fallback: 7154 },
  { service: "gateway", kind: "ops", variable: "GATEWAY_OPS_PORT", fallback: 9090 },
  { service: "documents", kind: "ops", variable: "DOCUMENTS_OPS_PORT", fallback: 9091 },
  { service: "phrases", kind: "ops", variable: "PHRASES_OPS_PORT", fallback: 9092 },
  { service: "signing", kind: "ops", variable: "SIGNING_OPS_PORT", fallback: 9093 },
  { service: "delivery", kind: "ops", variable: "DELIVERY_OPS_PORT", fallback: 9094 },
];

/** Reads the ports of all services. Throws DevstackError naming the variable of a faulty one. */
export function readPorts(env: NodeJS.ProcessEnv): StackPorts {
  const ports: Record<ServiceName, { grpc: number; mesh: number; ops: number; http?: number }> = {
    signing: { grpc: 0, mesh: 0, ops: 0 },
    documents: { grpc: 0, mesh: 0, ops: 0 },
    phrases: { grpc: 0, mesh: 0, ops: 0 },
    delivery: { grpc: 0, mesh: 0, ops: 0 },
    gateway: { grpc: 0, mesh: 0, ops: 0 },
  };
  for (const { service, kind, variable, fallback } of portSettings)
    ports[service][kind] = readPort(env, variable, fallback);
  return ports;
}

/**
 * Reads one port. 0 means any free port and is accepted only where it is the fallback: other
 * ports go as they are into dev.json and into the settings of the processes that call them.
 *
 * @throws DevstackError naming the variable when the port is malformed, or is 0 and may not be
 */
export function readPort(env: NodeJS.ProcessEnv, variable: string, fallback: number): number {
  const text = env[variable] || String(fallback);
  const lowest = Math.min(fallback, 1);
  if (/^\d{1,5}$/.test(text) && Number(text) >= lowest && Number(text) <= 65_535) return Number(text);
  throw new DevstackError(`${variable} must be a port from ${lowest} to 65535, not "${text}"`);
}

export interface SharedSettings {
  readonly mongoUrl: string;
  /** Users of the databases; undefined when all programs use `mongoUrl` as it is. */
  readonly databaseUsers: Readonly<Record<ProgramName, DatabaseUser>> | undefined;
  readonly natsUrl: string;
  /**
   * Whether the broker belongs to the stack, so that settings of another broker must be ignored.
   */
  readonly isOwnBroker: boolean;
  /** From service to the file with its 32-byte KEK. */
  readonly kekFiles: Readonly<Record<"signing" | "delivery", string>>;
  /** File with the key that the services documents and signing share for attestations. */
  readonly attestationKeyFile: string;
  /** Prefix of the database names, before `_documents` and so on; `vidimus` outside of tests. */
  readonly databasePrefix: string;
  /** Undefined in a stack without certificates. */
  readonly identities: Pick<DevIdentities, "services" | "console" | "grantsFile"> | undefined;
  readonly ports: StackPorts;
  readonly replicas?: readonly Replica[];
}

/**
 * Settings for one machine, all but DOCS unsafe in a deployment. `env` overrides them.
 */
const developmentDefaults = {
  DOCS: "on",
  DELIVERY_ALLOW_HTTP: "on",
  DELIVERY_ALLOW_CIDRS: "127.0.0.0/8,::1/128",
  DELIVERY_ALLOW_PORTS: "1-65535",
};

const databases: Readonly<Record<ProgramName, string>> = {
  gateway: "access",
  documents: "documents",
  phrases: "phrases",
  signing: "signing",
  delivery: "delivery",
  console: "console",
};

/** Returns for each program a user of its own database, whose name begins with `prefix`. */
export function databaseUsers(
  prefix: string,
  passwords: Readonly<Record<ProgramName, string>>,
): Readonly<Record<ProgramName, DatabaseUser>> {
  const users = programNames.map(
    (user) => [user, { user, password: passwords[user], database: databaseOf(user, prefix) }] as const,
  );
  return Object.fromEntries(users) as Readonly<Record<ProgramName, DatabaseUser>>;
}

export function databaseOf(program: ProgramName, prefix: string): string {
  return `${prefix}_${databases[program]}`;
}

/** From the variable with a secret's path to the services that may read the file. */
const secretFiles = {
  SIGNING_KEK_FILE: ["signing"],
  SIGNING_OLD_KEK_FILE: ["signing"],
  ATTESTATION_KEY_FILE: ["documents", "signing"],
  ATTESTATION_OLD_KEY_FILE: ["signing"],
  DELIVERY_KEK_FILE: ["delivery"],
  DELIVERY_OTHER_KEK_FILE: ["delivery"],
} as const satisfies Record<string, readonly ServiceName[]>;

/** Drops the paths of secrets that belong to other services. */
export function ownPaths(service: ProgramName, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const foreign = Object.entries(secretFiles).filter(([, owners]) => !owners.some((owner) => owner === service));
  const names = new Set(foreign.map(([name]) => name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

/**
 * Returns the whole environment of a service. `env` overrides the development defaults; what the
 * stack sets overrides `env`.
 *
 * @param own ports of the process to start; those of the service's first process by default
 */
export function serviceEnv(
  service: ServiceName,
  shared: SharedSettings,
  env: NodeJS.ProcessEnv,
  own: ServicePorts = shared.ports[service],
): NodeJS.ProcessEnv {
  const target = (name: ServiceName) => doorTarget(name, "mesh", shared);
  const user = shared.databaseUsers?.[service];
  return ownPaths(service, {
    ...developmentDefaults,
    ...env,
    HOST: "127.0.0.1",
    HTTP_HOST: "127.0.0.1",
    HTTP_PORT: String(own.http ?? ""),
    GRPC_PORT: String(own.grpc),
    MESH_PORT: String(own.mesh),
    OPS_PORT: String(own.ops),
    MONGODB_URL: user ? userUrl(shared.mongoUrl, user) : shared.mongoUrl,
    MONGODB_DATABASE: databaseOf(service, shared.databasePrefix),
    NATS_URL: shared.natsUrl,
    ...(shared.isOwnBroker && brokerSettings(shared.identities?.services[service])),
    SIGNING_KEK_FILE: shared.kekFiles.signing,
    DELIVERY_KEK_FILE: shared.kekFiles.delivery,
    ATTESTATION_KEY_FILE: shared.attestationKeyFile,
    ACCESS_TARGET: target("gateway"),
    DOCUMENTS_TARGET: target("documents"),
    PHRASES_TARGET: target("phrases"),
    SIGNING_TARGET: target("signing"),
    DELIVERY_TARGET: target("delivery"),
    ...(shared.identities && tlsSettings(shared.identities.services[service], shared.identities.grantsFile)),
  });
}

/**
 * Settings for the stack's own broker. Variables with credentials for another broker are emptied.
 */
function brokerSettings(files: TlsFiles | undefined): NodeJS.ProcessEnv {
  const { certFile = "", keyFile = "", caFile = "" } = files ?? {};
  return { NATS_CREDS: "", NATS_NKEY_SEED: "", NATS_CA: caFile, NATS_CERT: certFile, NATS_KEY: keyFile };
}

/** Target for calls to a door of a service: all its processes when it has several. */
export function doorTarget(
  service: ServiceName,
  door: "grpc" | "mesh",
  { ports, replicas = [] }: SharedSettings,
): string {
  const others = replicas.filter((replica) => replica.service === service).map((replica) => replica.ports[door]);
  const addresses = [ports[service][door], ...others].map((port) => `127.0.0.1:${port}`);
  return addresses.length === 1 ? addresses.join() : `ipv4:${addresses.join(",")}`;
}

function tlsSettings({ certFile, keyFile, caFile }: TlsFiles, grantsFile: string): NodeJS.ProcessEnv {
  return { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_CA_FILE: caFile, GRANTS_FILE: grantsFile };
}
