import { ConfigError } from "@vidimus/kit/env";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import type { ChildExit } from "../child.ts";
import { DevstackError } from "../errors.ts";
import { type MongodOptions, openMongod } from "./mongod.ts";
import { type NatsServerOptions, openNatsServer } from "./nats-server.ts";
import type { BackingServer } from "./server.ts";

/**
 * Uses the MongoDB of MONGODB_URL, or starts a mongod with `openMongod`.
 *
 * @throws DevstackError within 4 s when the MongoDB of MONGODB_URL is not usable, and what
 * `openMongod` throws
 */
export async function openMongodb(options: MongodOptions, env: NodeJS.ProcessEnv): Promise<BackingServer> {
  const url = env["MONGODB_URL"];
  if (!url) return openMongod(options);
  await assertAnswers(url);
  return external(url);
}

/**
 * Connects once before the services start; otherwise all of them would fail, each in its own log.
 */
async function assertAnswers(url: string): Promise<void> {
  try {
    await using _mongo = await openMongo({ url, database: "admin", appName: "vidimus-devstack", poolSizeMax: 1 });
  } catch (error) {
    throw error instanceof ConfigError ? new DevstackError(error.message) : error;
  }
}

export async function openNats(options: NatsServerOptions, env: NodeJS.ProcessEnv): Promise<BackingServer> {
  const url = env["NATS_URL"];
  return url ? external(url) : openNatsServer(options);
}

function external(url: string): BackingServer {
  const { promise: exited } = Promise.withResolvers<ChildExit>();
  return { url, pid: undefined, exited, [Symbol.asyncDispose]: async () => {} };
}
