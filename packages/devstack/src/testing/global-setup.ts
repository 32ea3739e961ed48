import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openMongodb, openNats } from "../backing/backing.ts";
import { makeDatabaseAccess } from "../stack/dev-access.ts";
import { openTestFolder } from "./test-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * A writable one-node replica set with fail points enabled (fail-commands.ts). All test files
     * share it: use a database of your own (database.ts). When VIDIMUS_TEST_MTLS is `on`, the set
     * has access control, and the URL names the user `operator`.
     */
    mongoUrl: string;
    /**
     * A NATS server with JetStream. All test files share it: use subjects and streams of your own.
     */
    natsUrl: string;
  }
}

/**
 * Starts one mongod and one nats-server for the tests of a project, unless MONGODB_URL and NATS_URL
 * name others. Tests read the URLs with `inject("mongoUrl")` and `inject("natsUrl")`.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(openTestFolder("servers")).path;
  const access = process.env["VIDIMUS_TEST_MTLS"] === "on" ? await makeDatabaseAccess(dir) : undefined;
  const mongodb = stack.use(
    await openMongodb({ ...serverOptions(dir, "mongod"), failPoints: true, access }, process.env),
  );
  const nats = stack.use(await openNats(serverOptions(dir, "nats-server"), process.env));
  project.provide("mongoUrl", mongodb.url);
  project.provide("natsUrl", nats.url);
  const running = stack.move();
  return () => running.disposeAsync();
}

function serverOptions(dir: string, name: string) {
  return { dataDir: join(dir, name), logFile: join(dir, `${name}.log`), port: 0 };
}
