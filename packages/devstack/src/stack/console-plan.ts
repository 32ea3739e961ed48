import { userUrl } from "../backing/database-users.ts";
import { databaseOf, doorTarget, ownPaths, readPort, type SharedSettings } from "./service-plan.ts";

/** Ports of the console on 127.0.0.1. */
export interface ConsolePorts {
  /** Port of the pages. */
  readonly http: number;
  readonly ops: number;
}

export const consolePortSettings = [
  { kind: "http", variable: "CONSOLE_PORT", fallback: 8090 },
  { kind: "ops", variable: "CONSOLE_OPS_PORT", fallback: 9095 },
] as const;

/** Reads the ports of the console. Throws DevstackError naming the variable of a faulty one. */
export function readConsolePorts(env: NodeJS.ProcessEnv): ConsolePorts {
  const ports = { http: 0, ops: 0 };
  for (const { kind, variable, fallback } of consolePortSettings) ports[kind] = readPort(env, variable, fallback);
  return ports;
}

/**
 * Returns the whole environment of the console: `env` without paths of the services' secrets, with
 * the console's ports, database and certificate and the doors that it calls.
 */
export function consoleEnv(shared: SharedSettings, env: NodeJS.ProcessEnv, ports: ConsolePorts): NodeJS.ProcessEnv {
  const user = shared.databaseUsers?.console;
  const files = shared.identities?.console;
  return ownPaths("console", {
    ...env,
    HOST: "127.0.0.1",
    CONSOLE_HOST: "127.0.0.1",
    CONSOLE_PORT: String(ports.http),
    OPS_PORT: String(ports.ops),
    MONGODB_URL: user ? userUrl(shared.mongoUrl, user) : shared.mongoUrl,
    MONGODB_DATABASE: databaseOf("console", shared.databasePrefix),
    CONSOLE_API_ORIGIN: env["CONSOLE_API_ORIGIN"] || `http://127.0.0.1:${shared.ports.gateway.http ?? 0}`,
    GATEWAY_URL: `http://127.0.0.1:${shared.ports.gateway.http ?? 0}`,
    ACCESS_TARGET: doorTarget("gateway", "grpc", shared),
    DOCUMENTS_TARGET: doorTarget("documents", "grpc", shared),
    PHRASES_TARGET: doorTarget("phrases", "grpc", shared),
    DELIVERY_TARGET: doorTarget("delivery", "grpc", shared),
    ...(files && { TLS_CERT_FILE: files.certFile, TLS_KEY_FILE: files.keyFile, TLS_CA_FILE: files.caFile }),
  });
}

/** Origin of the console's pages: its own address, unless CONSOLE_ORIGIN names another one. */
export function consoleOrigin(env: NodeJS.ProcessEnv, { http }: ConsolePorts): string {
  return env["CONSOLE_ORIGIN"] || `http://127.0.0.1:${http}`;
}
