import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openMongodb, openNats } from "../backing/backing.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A writable one-node replica set with fail points allowed. One for all files: take a database of your own (database.ts). */
    mongoUrl: string;
    /** A NATS server with JetStream. One for all files: take subjects and streams of your own. */
    natsUrl: string;
  }
}

/** Gives the tests of a project one mongod and one nats-server; read them with `inject("mongoUrl")` and `inject("natsUrl")`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), "vidimus-test-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const [mongodb, nats] = await Promise.all([
    openMongodb(place(dir, "mongod"), process.env),
    openNats(place(dir, "nats-server"), process.env),
  ]);
  stack.use(mongodb);
  stack.use(nats);
  project.provide("mongoUrl", mongodb.url);
  project.provide("natsUrl", nats.url);
  const running = stack.move();
  return () => running.disposeAsync();
}

function place(dir: string, name: string) {
  return { dataDir: join(dir, name), logFile: join(dir, `${name}.log`), port: 0, failPoints: true };
}
