import { join } from "node:path";
import { openMongod } from "../backing/mongod.ts";
import type { BackingServer } from "../backing/server.ts";
import { openTestFolder } from "./test-folder.ts";

/**
 * Starts a mongod with fail points for one file of tests. On the shared server, fail points and
 * parameters that the file sets would disturb other files.
 */
export async function openTestMongod(): Promise<BackingServer> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(openTestFolder("mongod"));
  const options = { dataDir: join(path, "data"), logFile: join(path, "mongod.log"), port: 0 };
  const server = stack.use(await openMongod({ ...options, failPoints: true }));
  const running = stack.move();
  return { ...server, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
