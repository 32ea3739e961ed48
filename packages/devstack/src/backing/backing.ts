import type { ChildExit } from "../child.ts";
import { type MongodOptions, openMongod } from "./mongod.ts";
import { type NatsServerOptions, openNatsServer } from "./nats-server.ts";
import type { BackingServer } from "./server.ts";

/** The MongoDB of MONGODB_URL, else a mongod of our own. */
export async function openMongodb(options: MongodOptions, env: NodeJS.ProcessEnv): Promise<BackingServer> {
  const url = env["MONGODB_URL"];
  return url ? theirs(url) : openMongod(options);
}

/** The NATS of NATS_URL, else a nats-server of our own. */
export async function openNats(options: NatsServerOptions, env: NodeJS.ProcessEnv): Promise<BackingServer> {
  const url = env["NATS_URL"];
  return url ? theirs(url) : openNatsServer(options);
}

function theirs(url: string): BackingServer {
  const { promise: exited } = Promise.withResolvers<ChildExit>();
  return { url, pid: undefined, exited, [Symbol.asyncDispose]: async () => {} };
}
