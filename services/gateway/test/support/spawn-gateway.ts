import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { inject } from "vitest";

/** Rejects with the gateway's output when it exits before it has started. */
export async function spawnGateway(env: Record<string, string>) {
  const lines: string[] = [];
  const database = env["MONGODB_DATABASE"] ?? testDatabaseName("access");
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../src/main.ts")], {
    env: {
      ...process.env,
      GRPC_PORT: "0",
      MESH_PORT: "0",
      OPS_PORT: "0",
      HTTP_PORT: "0",
      IP_RATE_LIMIT: "off",
      AUTH_FAILURE_RATE_LIMIT: "off",
      WRITE_BUDGET: "off",
      MONGODB_URL: inject("mongoUrl"),
      MONGODB_DATABASE: database,
      NATS_URL: inject("natsUrl"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.on("data", (chunk) => lines.push(String(chunk)));
  const ports = { httpPort: 0, grpcPort: 0, opsPort: 0 };
  const started = Promise.withResolvers<void>();
  child.once("exit", (code) => started.reject(new Error([`exit code ${code}`, ...lines].join("\n"))));
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    const entry = JSON.parse(line) as { msg: string; port: number; grpcPort: number; opsPort: number };
    if (entry.msg === "public port open") ports.httpPort = entry.port;
    if (entry.msg !== "started") return;
    ports.grpcPort = entry.grpcPort;
    ports.opsPort = entry.opsPort;
    started.resolve();
  });
  await started.promise;
  const exited = once(child, "exit");
  return {
    ...ports,
    database,
    /** Lines of stdout and pieces of stderr; grows while the gateway runs. */
    lines,
    async stop(): Promise<number | null> {
      if (child.exitCode === null) child.kill("SIGTERM");
      await exited;
      return child.exitCode;
    },
  };
}
