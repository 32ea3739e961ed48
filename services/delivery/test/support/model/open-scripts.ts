import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ReadConcern } from "mongodb";
import { inject, vi } from "vitest";
import { deliveryDatabaseVersion } from "../../../src/store/delivery-database-version.ts";
import { Enablings } from "./enablings.ts";
import { scriptOf, ScriptRun } from "./script.ts";

/** A database for scripts, and a clock that only they move. */
export async function openScripts() {
  const database = testDatabaseName("scripts");
  const mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "scripts" });
  await ensureIndexes(mongo.db, deliveryDatabaseVersion.indexes);
  // The mongod of the scripts is never killed, so writes need not wait for its journal.
  const db = mongo.client.db(database, {
    writeConcern: { w: 1, journal: false },
    readConcern: new ReadConcern("local"),
  });
  vi.useFakeTimers({ toFake: ["Date"] });
  return {
    /** Runs the scripts of these seeds. @returns the failures, each with its seed and trace */
    run: (from: number, count: number) => runAll(from, count, (seed) => ScriptRun.run(db, `${seed}`, scriptOf(seed))),
    /** Runs the scripts with rows that are given up after some seconds. */
    runAging: (from: number, count: number) =>
      runAll(from, count, (seed) => ScriptRun.run(db, `aging${seed}`, scriptOf(seed), new Enablings())),
    async [Symbol.asyncDispose]() {
      vi.useRealTimers();
      await mongo.db.dropDatabase();
      await mongo[Symbol.asyncDispose]();
    },
  };
}

async function runAll(from: number, count: number, run: (seed: number) => Promise<void>): Promise<string[]> {
  const broken: string[] = [];
  for (let seed = from; seed < from + count; seed += 1) {
    await run(seed).catch((error: unknown) => {
      broken.push(`script ${seed}: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
  return broken;
}
