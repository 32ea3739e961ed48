import { DevstackError } from "../errors.ts";

/** The five services in the order they start: who is called comes before who calls. */
export const serviceNames = ["signing", "documents", "phrases", "delivery", "gateway"] as const;

/** One of the five services. */
export type ServiceName = (typeof serviceNames)[number];

/** Where one service listens on 127.0.0.1; 0 picks a free port. */
export interface ServicePorts {
  readonly grpc: number;
  readonly ops: number;
  /** The gateway only: public HTTP. */
  readonly http?: number;
}

/** Ports of the whole constellation. */
export type StackPorts = Readonly<Record<ServiceName, ServicePorts>>;

/** A port with the variable that moves it. */
export interface PortSetting {
  readonly service: ServiceName;
  readonly kind: keyof ServicePorts;
  readonly variable: string;
  readonly fallback: number;
}

/** Every port of the dev stack. The gateway's own RPC service is called access, so its variable is too. */
export const portSettings: readonly PortSetting[] = [
  { service: "gateway", kind: "http", variable: "GATEWAY_PORT", fallback: 8080 },
  { service: "gateway", kind: "grpc", variable: "ACCESS_GRPC_PORT", fallback: 50_050 },
  { service: "documents", kind: "grpc", variable: "DOCUMENTS_GRPC_PORT", fallback: 50_051 },
  { service: "phrases", kind: "grpc", variable: "PHRASES_GRPC_PORT", fallback: 50_052 },
  { service: "signing", kind: "grpc", variable: "SIGNING_GRPC_PORT", fallback: 50_053 },
  { service: "delivery", kind: "grpc", variable: "DELIVERY_GRPC_PORT", fallback: 50_054 },
  { service: "gateway", kind: "ops", variable: "GATEWAY_OPS_PORT", fallback: 9090 },
  { service: "documents", kind: "ops", variable: "DOCUMENTS_OPS_PORT", fallback: 9091 },
  { service: "phrases", kind: "ops", variable: "PHRASES_OPS_PORT", fallback: 9092 },
  { service: "signing", kind: "ops", variable: "SIGNING_OPS_PORT", fallback: 9093 },
  { service: "delivery", kind: "ops", variable: "DELIVERY_OPS_PORT", fallback: 9094 },
];

/** Reads the ports of the services from an environment. Throws DevstackError naming the variable of a bad one. */
export function readPorts(env: NodeJS.ProcessEnv): StackPorts {
  const ports: Record<ServiceName, { grpc: number; ops: number; http?: number }> = {
    signing: { grpc: 0, ops: 0 },
    documents: { grpc: 0, ops: 0 },
    phrases: { grpc: 0, ops: 0 },
    delivery: { grpc: 0, ops: 0 },
    gateway: { grpc: 0, ops: 0 },
  };
  for (const { service, kind, variable, fallback } of portSettings)
    ports[service][kind] = readPort(env, variable, fallback);
  return ports;
}

/** Reads one port. Throws DevstackError naming the variable of a bad one. */
export function readPort(env: NodeJS.ProcessEnv, variable: string, fallback: number): number {
  const text = env[variable] || String(fallback);
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new DevstackError(`${variable} must be a port from 0 to 65535, not "${text}"`);
}

/** What the services of one constellation share. */
export interface Surroundings {
  readonly mongoUrl: string;
  readonly natsUrl: string;
  /** 32 bytes that wrap the signing keys. */
  readonly kekFile: string;
  /** Put before `_documents` and so on; `vidimus` outside tests. */
  readonly databasePrefix: string;
  readonly ports: StackPorts;
}

/** What a newsroom on one laptop needs and a deployment must not have. The stack's own environment outranks it. */
const developmentDefaults = {
  DOCS: "on",
  DELIVERY_ALLOW_HTTP: "on",
  DELIVERY_ALLOW_CIDRS: "127.0.0.0/8,::1/128",
};

const databases: Readonly<Record<ServiceName, string>> = {
  gateway: "access",
  documents: "documents",
  phrases: "phrases",
  signing: "signing",
  delivery: "delivery",
};

/** The whole environment of one service: the given one, with the settings by which the constellation finds itself. */
export function serviceEnv(service: ServiceName, around: Surroundings, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { ports } = around;
  const target = (name: ServiceName) => `127.0.0.1:${ports[name].grpc}`;
  return {
    ...developmentDefaults,
    ...env,
    HOST: "127.0.0.1",
    HTTP_HOST: "127.0.0.1",
    HTTP_PORT: String(ports[service].http ?? ""),
    GRPC_PORT: String(ports[service].grpc),
    OPS_PORT: String(ports[service].ops),
    MONGODB_URL: around.mongoUrl,
    MONGODB_DATABASE: `${around.databasePrefix}_${databases[service]}`,
    NATS_URL: around.natsUrl,
    SIGNING_KEK_FILE: around.kekFile,
    DOCUMENTS_TARGET: target("documents"),
    PHRASES_TARGET: target("phrases"),
    SIGNING_TARGET: target("signing"),
  };
}
