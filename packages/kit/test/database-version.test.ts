import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { missingIndexes } from "@vidimus/kit/mongo/indexes";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import {
  migrate,
  ensureDatabaseVersion,
  type DatabaseVersion,
  type VersionStep,
} from "@vidimus/kit/mongo/database-version";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";

interface Row {
  _id: string;
  shape: number;
}

const database = testDatabaseName("versions");
let mongo: Mongo;

beforeEach(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "versions-test" });
});
afterEach(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

/** Code of a version from 3 on, whose rows have that number as their shape. */
function codeOf(version: number): DatabaseVersion {
  const steps = Array.from({ length: version - 3 }, (_, index): VersionStep => {
    const to = index + 4;
    return {
      version: to,
      prepare: async ({ db }) => void (await db.collection("prepared").insertOne({ to })),
      rewrite: async ({ db }) => {
        await db.collection<Row>("rows").updateMany({ shape: to - 1 }, { $set: { shape: to } });
      },
    };
  });
  return { base: 3, steps, indexes: { rows: { [`shape${version}`]: { key: { shape: 1, [`of${version}`]: 1 } } } } };
}

const rows = () => mongo.db.collection<Row>("rows");
const shapes = () => rows().distinct("shape");

/** Leaves a database at a version in a phase, as code of that version would. */
async function bring(version: number, phase: "prepared" | "rewriting" | "rewritten"): Promise<void> {
  if (version > 3) await ensureDatabaseVersion(mongo, codeOf(version - 1), "on");
  if (phase === "rewriting") {
    const code = codeOf(version);
    const interrupted = { ...code, onRewritten: () => Promise.reject(new Error("killed")) };
    await expect(migrate(mongo, interrupted, "on")).rejects.toThrow("killed");
  } else await migrate(mongo, codeOf(version), phase === "rewritten" ? "on" : "prepare");
}

describe("code of version 5", () => {
  test.each([
    [5, "prepared"],
    [5, "rewriting"],
    [5, "rewritten"],
    [6, "prepared"],
  ] as const)("starts on a database of version %i, %s, when migrations are off", async (version, phase) => {
    await bring(version, phase);
    await ensureDatabaseVersion(mongo, codeOf(5), "off");
  });

  test.each([
    [4, "rewritten", "is rewritten at version 4, and this code needs 5: run src/migrate.ts --prepare"],
    [4, "prepared", "is prepared at version 4, and this code needs 5: end its processes, and run src/migrate.ts"],
    [3, "rewritten", "is rewritten at version 3, and this code needs 5: end its processes, and run src/migrate.ts"],
    [6, "rewriting", "is rewriting at version 6, and this code needs 5: start newer code"],
    [6, "rewritten", "is rewritten at version 6, and this code needs 5: start newer code"],
    [7, "prepared", "is prepared at version 7, and this code needs 5: start newer code"],
  ] as const)("refuses a database of version %i, %s, and says what to do", async (version, phase, reason) => {
    await bring(version, phase);
    await expect(ensureDatabaseVersion(mongo, codeOf(5), "off")).rejects.toThrow(`database ${database} ${reason}`);
  });

  test("refuses a new database when migrations are off, and says what to do", async () => {
    const reason = "is new: run src/migrate.ts --prepare";
    await expect(ensureDatabaseVersion(mongo, codeOf(5), "off")).rejects.toThrow(reason);
  });

  test.each(["on", "prepare"] as const)("does not migrate a newer database back with MIGRATE=%s", async (mode) => {
    await bring(6, "rewritten");
    await expect(ensureDatabaseVersion(mongo, codeOf(5), mode)).rejects.toThrow("start newer code");
    const state = await mongo.db.collection("database_version").findOne();
    expect(state).toMatchObject({ version: 6, phase: "rewritten" });
  });

  test("starts on a new database whose state another process is just writing", async () => {
    // MongoDB creates a collection before it inserts the first row.
    await mongo.db.createCollection("database_version");
    await ensureDatabaseVersion(mongo, codeOf(5), "on");
    expect(await mongo.db.collection("database_version").findOne()).toMatchObject({ version: 5 });
  });

  const startOver = "nothing was released yet: start over with `npm start -- --fresh`";

  test("refuses a database of version 2, from which it has no step, and says how to start over", async () => {
    await ensureDatabaseVersion(mongo, { ...codeOf(3), base: 2 }, "on");
    await expect(ensureDatabaseVersion(mongo, codeOf(5), "on")).rejects.toThrow(startOver);
  });

  test("refuses a database with rows and no version, and says how to start over", async () => {
    await rows().insertOne({ _id: "a", shape: 1 });
    for (const mode of ["on", "prepare", "off"] as const) {
      await expect(ensureDatabaseVersion(mongo, codeOf(5), mode)).rejects.toThrow(startOver);
    }
  });

  test("refuses a database that lacks an index when migrations are off, and names the index", async () => {
    await bring(5, "rewritten");
    await rows().dropIndex("shape5");
    await expect(ensureDatabaseVersion(mongo, codeOf(5), "off")).rejects.toThrow(
      "lacks rows.shape5: run src/migrate.ts --prepare",
    );
  });

  test("makes a missing index with MIGRATE=prepare", async () => {
    await bring(5, "rewritten");
    await rows().dropIndex("shape5");
    await ensureDatabaseVersion(mongo, codeOf(5), "prepare");
    expect(await missingIndexes(mongo.db, codeOf(5).indexes)).toEqual([]);
  });
});

test("a new database is at the version of the code at once, without a step", async () => {
  expect(await migrate(mongo, codeOf(5), "prepare")).toEqual({ from: 0, to: 5 });
  expect(await mongo.db.collection("prepared").countDocuments()).toBe(0);
  expect(await missingIndexes(mongo.db, codeOf(5).indexes)).toEqual([]);
});

/** Makes a database of version 3 with one row, and prepares version 4. */
async function prepareFour(): Promise<void> {
  await ensureDatabaseVersion(mongo, codeOf(3), "on");
  await rows().insertOne({ _id: "a", shape: 3 });
  expect(await migrate(mongo, codeOf(4), "prepare")).toEqual({ from: 3, to: 4 });
}

test("prepare leaves rows unchanged", async () => {
  await prepareFour();
  expect(await migrate(mongo, codeOf(6), "prepare")).toEqual({ from: 4, to: 4 });
  expect(await shapes()).toEqual([3]);
});

test("migrate takes every step in order, and prepares each once", async () => {
  await prepareFour();
  expect(await migrate(mongo, codeOf(6), "on")).toEqual({ from: 4, to: 6 });
  expect(await shapes()).toEqual([6]);
  expect(await migrate(mongo, codeOf(6), "on")).toEqual({ from: 6, to: 6 });
  const prepared = mongo.db.collection("prepared").find({}, { sort: { _id: 1 }, projection: { _id: 0 } });
  expect(await prepared.toArray()).toEqual([{ to: 4 }, { to: 5 }, { to: 6 }]);
});

test("an interrupted rewrite is repeated, and after it `onRewritten` is called once", async () => {
  await bring(4, "rewriting");
  await rows().insertOne({ _id: "late", shape: 3 });
  const told: unknown[] = [];
  const code = { ...codeOf(4), onRewritten: async () => void told.push(await shapes()) };
  await migrate(mongo, code, "on");
  await migrate(mongo, code, "on");
  expect(told).toEqual([[4]]);
});

test("eight starts on a new database at the same time all succeed", async () => {
  await Promise.all(Array.from({ length: 8 }, () => ensureDatabaseVersion(mongo, codeOf(5), "on")));
});

test("eight migrations at once bring a database and all its rows to the code's version", async () => {
  await ensureDatabaseVersion(mongo, codeOf(3), "on");
  await rows().insertMany(Array.from({ length: 100 }, (_, index) => ({ _id: `${index}`, shape: 3 })));
  await Promise.all(Array.from({ length: 8 }, () => migrate(mongo, codeOf(6), "on")));
  expect(await shapes()).toEqual([6]);
  await ensureDatabaseVersion(mongo, codeOf(6), "off");
});

test("an index with another column order, uniqueness or filter than declared counts as missing", async () => {
  await rows().createIndexes([
    { key: { one: 1, two: 1 } },
    { key: { plain: 1 } },
    { key: { some: 1 }, unique: true, partialFilterExpression: { some: { $exists: true } } },
  ]);
  const missing = await missingIndexes(mongo.db, {
    rows: {
      order: { key: { two: 1, one: 1 } },
      unique: { key: { plain: 1 }, unique: true },
      partial: { key: { some: 1 }, unique: true, partialFilterExpression: { other: { $exists: true } } },
      same: { key: { some: 1 }, unique: true, partialFilterExpression: { some: { $exists: true } } },
    },
    nothing: { there: { key: { a: 1 } } },
  });
  expect(missing).toEqual(["rows.order", "rows.unique", "rows.partial", "nothing.there"]);
});
