import { createHash } from "node:crypto";
import { ConfigError } from "../env.ts";
import { type DatabaseIndexes, ensureIndexes, missingIndexes } from "./indexes.ts";
import type { Mongo } from "./mongo.ts";
import { type VersionState, VersionStates, startOver } from "./version-state.ts";

export type VersionedDatabase = Pick<Mongo, "client" | "db">;

/**
 * A change of the rows of a database. `prepare` and `rewrite` must tolerate being killed anywhere
 * and run again, and running beside services and beside a second run of themselves.
 */
export interface VersionStep {
  /** Version that the step leads to: one more than that of the step before. */
  readonly version: number;
  /**
   * Adds what code of this version needs beside indexes. Removes nothing, because code of the
   * version before still runs.
   */
  prepare(database: VersionedDatabase): Promise<void>;
  /** Rewrites rows of the version before. May run only when no process of that version runs. */
  rewrite(database: VersionedDatabase): Promise<void>;
}

/** What a service's code needs of its database. */
export interface DatabaseVersion {
  /**
   * Version of a database before the first step. Until the first release it is raised when rows
   * change, and databases of a lower version are refused.
   */
  readonly base: number;
  /** Ordered by version, without a gap. */
  readonly steps: readonly VersionStep[];
  readonly indexes: DatabaseIndexes;
  /**
   * Called after each rewrite and before the rewrite is noted as done, so after a crash in
   * between it is called again.
   */
  onRewritten?(database: VersionedDatabase): Promise<void>;
}

/**
 * What a start or a Job may do to a database: `on` prepares and rewrites it, which is safe only
 * where no process of an earlier version runs; `prepare` does not rewrite rows; `off` does nothing.
 */
export type MigrateMode = "on" | "prepare" | "off";

export function versionOf({ base, steps }: Pick<DatabaseVersion, "base" | "steps">): number {
  return base + steps.length;
}

/**
 * Name of a version with its indexes, for example `v3-92e18995`. The migration Job's name ends with
 * it, because Kubernetes refuses to apply a Job again with other contents.
 */
export function versionName(wanted: Pick<DatabaseVersion, "base" | "steps" | "indexes">): string {
  const hash = createHash("sha256").update(JSON.stringify(wanted.indexes)).digest("hex");
  return `v${versionOf(wanted)}-${hash.slice(0, 8)}`;
}

/**
 * Brings the database to the code's version as far as `mode` allows, and checks it. Code of version
 * n works with databases of n, and of n + 1 while n + 1 is only prepared, so that both versions can
 * run side by side.
 *
 * @throws ConfigError saying what to do when the database is of a version that the code does not
 * work with, or lacks an index that `mode` does not let it make
 */
export async function ensureDatabaseVersion(
  database: VersionedDatabase,
  wanted: DatabaseVersion,
  mode: MigrateMode,
): Promise<void> {
  if (mode !== "off") await migrate(database, wanted, mode);
  const { db } = database;
  const state = await new VersionStates(db).read();
  const missing = state?.version === versionOf(wanted) ? await missingIndexes(db, wanted.indexes) : [];
  const fault = faultOf(state, wanted, missing);
  if (fault !== undefined) throw new ConfigError(`database ${db.databaseName} ${fault}`);
}

/**
 * Takes every step that `mode` allows. It may be killed anywhere and run again, and several
 * processes may run it at once.
 *
 * @returns the versions before, 0 for a new database, and after
 * @throws ConfigError when the database has collections but no version: an earlier build made it
 */
export async function migrate(
  database: VersionedDatabase,
  wanted: DatabaseVersion,
  mode: Exclude<MigrateMode, "off">,
): Promise<{ from: number; to: number }> {
  const states = new VersionStates(database.db);
  const found = await states.read();
  let state = found ?? (await states.found(versionOf(wanted)));
  for (let next = nextState(state, wanted, mode); next; next = nextState(state, wanted, mode)) {
    await enter(database, wanted, next);
    state = await states.advance(state, next);
  }
  if (state.version === versionOf(wanted)) await ensureIndexes(database.db, wanted.indexes);
  return { from: found?.version ?? 0, to: state.version };
}

/**
 * The next state of a migration; undefined when `mode` allows no further one, when all steps are
 * done, or when the code has no step from the database's version.
 */
function nextState(
  { version, phase }: VersionState,
  wanted: DatabaseVersion,
  mode: Exclude<MigrateMode, "off">,
): VersionState | undefined {
  const last = versionOf(wanted);
  if (version < wanted.base || version > last) return undefined;
  if (phase === "rewritten") return version === last ? undefined : { version: version + 1, phase: "prepared" };
  if (mode === "prepare") return undefined;
  return { version, phase: phase === "prepared" ? "rewriting" : "rewritten" };
}

/** Does the work that leads to a state. */
async function enter(
  database: VersionedDatabase,
  wanted: DatabaseVersion,
  { version, phase }: VersionState,
): Promise<void> {
  const step = wanted.steps.find((each) => each.version === version);
  if (phase === "prepared") {
    await step?.prepare(database);
    await ensureIndexes(database.db, wanted.indexes);
  } else if (phase === "rewritten") {
    await step?.rewrite(database);
    await wanted.onRewritten?.(database);
  }
}

/** Why the code cannot work with a database, and what to do; undefined when it can. */
function faultOf(
  state: VersionState | undefined,
  wanted: DatabaseVersion,
  missing: readonly string[],
): string | undefined {
  const own = versionOf(wanted);
  if (!state) return `is new: ${prepareFirst}`;
  const { version, phase } = state;
  if (version === own) return missing.length === 0 ? undefined : `lacks ${missing.join(", ")}: ${prepareFirst}`;
  if (version === own + 1 && phase === "prepared") return undefined;
  if (version < wanted.base) return startOver;
  const stands = `is ${phase} at version ${version}, and this code needs ${own}`;
  if (version > own) return `${stands}: start newer code`;
  const next =
    version === own - 1 && phase === "rewritten" ? prepareFirst : "end its processes, and run src/migrate.ts";
  return `${stands}: ${next}`;
}

const prepareFirst = "run src/migrate.ts --prepare";
