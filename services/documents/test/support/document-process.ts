import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import type { DoorPorts } from "@vidimus/kit/service/open-doors";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { adminByDefault } from "./running-documents.ts";

export interface DocumentProcess extends AsyncDisposable {
  documents: RpcClient<typeof DocumentService>;
  published: RpcClient<typeof PublishedDocumentService>;
  schemas: RpcClient<typeof SchemaService>;
  /** Asks the process to stop; resolves with its exit code, null after a signal ended it. */
  stop(): Promise<number | null>;
}

/** Starts the documents service as a process on free ports, and waits until it serves. */
export async function runDocumentProcess(options: {
  mongoUrl: string;
  natsUrl: string;
  database: string;
}): Promise<DocumentProcess> {
  await using stack = new AsyncDisposableStack();
  const main = new URL("../../src/main.ts", import.meta.url).pathname;
  const settings = {
    MONGODB_URL: options.mongoUrl,
    NATS_URL: options.natsUrl,
    ACCESS_TARGET: "off",
    MONGODB_DATABASE: options.database,
    GRPC_PORT: "0",
    MESH_PORT: "0",
    OPS_PORT: "0",
    LOG_LEVEL: "info",
  };
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = async () => {
    child.kill();
    const [code] = await exited;
    return code;
  };
  stack.defer(async () => void (await stop()));
  const { grpcPort, meshPort } = await portsOf(createInterface({ input: child.stdout }));
  const at = (port: number) => ({ target: `127.0.0.1:${port}`, defaultTimeoutMs: 60_000 });
  const documents = adminByDefault(stack.use(openRpcClient(DocumentService, at(grpcPort))));
  const published = stack.use(openRpcClient(PublishedDocumentService, at(meshPort)));
  const schemas = stack.use(openRpcClient(SchemaService, at(grpcPort)));
  const opened = stack.move();
  return { documents, published, schemas, stop, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/**
 * The ports that the process logs at its start. Later lines are read and dropped, so that the pipe
 * never fills.
 */
async function portsOf(lines: ReturnType<typeof createInterface>): Promise<DoorPorts> {
  const { promise, resolve, reject } = Promise.withResolvers<DoorPorts>();
  lines.on("line", (line) => {
    const { msg, grpcPort, meshPort } = JSON.parse(line);
    if (msg === "started") resolve({ grpcPort, meshPort });
  });
  lines.on("close", () => reject(new Error("the process ended before it served")));
  return promise;
}
