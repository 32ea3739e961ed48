import { pickFreePort } from "@vidimus/devstack/port-guard";
import { startServiceProcess, untilServiceReady } from "@vidimus/devstack/stack/service-process";
import type { ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { join } from "node:path";
import { documentsDatabase } from "./open-stage.ts";

interface SecondDocuments extends AsyncDisposable {
  /** `host:port` of its teams door. */
  readonly target: string;
}

/** Starts a documents process on the database of the first one. Resolves when it is ready. */
export async function startSecondDocuments({ dev, stateDir }: ProcessConstellation): Promise<SecondDocuments> {
  const grpcPort = await pickFreePort();
  const meshPort = await pickFreePort();
  const opsPort = await pickFreePort();
  const logFile = join(stateDir, "logs/documents-2.log");
  const env = {
    ...process.env,
    HOST: "127.0.0.1",
    GRPC_PORT: String(grpcPort),
    MESH_PORT: String(meshPort),
    OPS_PORT: String(opsPort),
    MONGODB_URL: dev.mongodb,
    MONGODB_DATABASE: documentsDatabase,
    NATS_URL: dev.nats,
    ACCESS_TARGET: dev.mesh.access,
    LOG_LEVEL: "warn",
  };
  await using stack = new AsyncDisposableStack();
  stack.use(await startServiceProcess("documents", env, logFile));
  await untilServiceReady("documents", `http://127.0.0.1:${opsPort}`, logFile);
  const started = stack.move();
  return { target: `127.0.0.1:${grpcPort}`, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
