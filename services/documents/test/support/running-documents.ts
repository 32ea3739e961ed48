import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import type { DatabaseVersion, MigrateMode } from "@vidimus/kit/mongo/database-version";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { readConfig } from "../../src/config.ts";
import { startDocuments } from "../../src/documents.ts";
import { attestationKeyFile } from "./settling.ts";

/** A documents service, and a client of its teams door. */
export interface RunningDocuments extends AsyncDisposable {
  client: RpcClient<typeof DocumentService>;
  /** `host:port` of the teams door. */
  target: string;
  /** `host:port` of the mesh door. */
  meshTarget: string;
  database: string;
}

/** Deadline of a call. The default of 10 s is too short for the largest calls on a busy machine. */
export const callMs = 30_000;

/**
 * Starts a documents service on free ports, with a new database unless `database` names the
 * database of another service.
 */
export async function runDocuments(options: {
  mongoUrl: string;
  natsUrl: string;
  database?: string;
  migrate?: MigrateMode;
  databaseVersion?: DatabaseVersion;
  /** By default the file of `settling.ts`; "" for no key. */
  attestationKeyFile?: string;
}): Promise<RunningDocuments> {
  await using stack = new AsyncDisposableStack();
  const database = options.database ?? testDatabaseName("documents");
  const config = readConfig({
    MONGODB_URL: options.mongoUrl,
    MONGODB_DATABASE: database,
    NATS_URL: options.natsUrl,
    ACCESS_TARGET: "off",
    MIGRATE: options.migrate ?? "on",
    GRPC_PORT: "0",
    MESH_PORT: "0",
    OPS_PORT: "0",
    LOG_LEVEL: "silent",
    ATTESTATION_KEY_FILE: options.attestationKeyFile ?? attestationKeyFile(),
  });
  const service = stack.use(await startDocuments(config, options.databaseVersion));
  const target = `127.0.0.1:${service.grpcPort}`;
  const meshTarget = `127.0.0.1:${service.meshPort}`;
  const client = adminByDefault(stack.use(openRpcClient(DocumentService, { target, defaultTimeoutMs: callMs })));
  const opened = stack.move();
  return { client, target, meshTarget, database, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Calls that name no role get the role admin. */
export function adminByDefault<Client extends object>(client: Client): Client {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (request: unknown, options: { headers?: Record<string, string> } = {}) =>
        member(request, { ...options, headers: { "vidimus-role": "admin", ...options.headers } });
    },
  });
}

export function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
