import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A documents service in a process of its own. */
export interface DocumentProcess extends AsyncDisposable {
  documents: RpcClient<typeof DocumentService>;
  published: RpcClient<typeof PublishedDocumentService>;
}

/** Starts one on free ports, and waits until it serves. */
export async function runDocumentProcess(options: {
  mongoUrl: string;
  natsUrl: string;
  database: string;
}): Promise<DocumentProcess> {
  await using stack = new AsyncDisposableStack();
  const main = new URL("../src/main.ts", import.meta.url).pathname;
  const settings = {
    MONGODB_URL: options.mongoUrl,
    NATS_URL: options.natsUrl,
    MONGODB_DATABASE: options.database,
    GRPC_PORT: "0",
    OPS_PORT: "0",
    LOG_LEVEL: "info",
  };
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  stack.defer(async () => {
    child.kill();
    await exited;
  });
  const target = `127.0.0.1:${await portOf(createInterface({ input: child.stdout }))}`;
  const documents = stack.use(openRpcClient(DocumentService, { target, defaultTimeoutMs: 60_000 }));
  const published = stack.use(openRpcClient(PublishedDocumentService, { target, defaultTimeoutMs: 60_000 }));
  const opened = stack.move();
  return { documents, published, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The port it says it started on; later lines are read and dropped, so that the pipe never fills. */
async function portOf(lines: ReturnType<typeof createInterface>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  lines.on("line", (line) => {
    const { msg, grpcPort } = JSON.parse(line);
    if (msg === "started") resolve(grpcPort);
  });
  lines.on("close", () => reject(new Error("the process ended before it served")));
  return promise;
}
