import { createHash } from "node:crypto";
import { ConfigError } from "../env.ts";
import { type DatabaseIndexes, ensureIndexes, missingIndexes } from "./indexes.ts";
import type { Mongo } from "./mongo.ts";
import { type SchemaState, SchemaStates, startOver } from "./schema-state.ts";

/** What a step works with. */
export type SchemaDatabase = Pick<Mongo, "client" | "db">;

/**
 * A change of the rows of a database. Both parts may be killed anywhere and run again, and run
 * beside services and beside themselves.
 */
export interface SchemaStep {
  /** What it brings a database to: one more than the step before it. */
  readonly version: number;
  /**
   * Adds what code of this version needs and no index gives, and takes nothing away: code of the
   * version before goes on.
   */
  prepare(database: SchemaDatabase): Promise<void>;
  /** Rewrites rows of the version before, when no process of that version runs any more. */
  rewrite(database: SchemaDatabase): Promise<void>;
}

/** How a service keeps its rows. */
export interface Schema {
  /**
   * Version of a database before the first step. Until the first release it is raised when rows
   * change: a database of a lower version is refused.
   */
  readonly base: number;
  /** In order, without a gap. */
  readonly steps: readonly SchemaStep[];
  readonly indexes: DatabaseIndexes;
  /** Called after each rewrite, before it counts as done; again after a crash. */
  onRewritten?(database: SchemaDatabase): Promise<void>;
}

/**
 * What a start or a Job may do to a database: `on` prepares and rewrites it, which is right where no
 * process of an earlier version runs; `prepare` leaves its rows as they are; `off` does nothing.
 */
export type MigrateMode = "on" | "prepare" | "off";

/** Version of the code. */
export function versionOf({ base, steps }: Pick<Schema, "base" | "steps">): number {
  return base + steps.length;
}

/**
 * Names what a database is brought to: `v3-92e18995`. The name of a Job ends with it, since a Job
 * cannot be applied again with different contents.
 */
export function schemaName(schema: Pick<Schema, "base" | "steps" | "indexes">): string {
  const hash = createHash("sha256").update(JSON.stringify(schema.indexes)).digest("hex");
  return `v${versionOf(schema)}-${hash.slice(0, 8)}`;
}

/**
 * Brings the database to where the code can work with it. Code of version n works with n, and with
 * n + 1 as long as that is only prepared: then it runs beside code of n + 1.
 *
 * @throws ConfigError saying what to do when the database is older or newer than that, or lacks an
 *   index that `mode` does not let it make
 */
export async function openSchema(database: SchemaDatabase, schema: Schema, mode: MigrateMode): Promise<void> {
  if (mode !== "off") await migrate(database, schema, mode);
  const { db } = database;
  const state = await new SchemaStates(db).read();
  const missing = state?.version === versionOf(schema) ? await missingIndexes(db, schema.indexes) : [];
  const fault = faultOf(state, schema, missing);
  if (fault !== undefined) throw new ConfigError(`database ${db.databaseName} ${fault}`);
}

/**
 * Takes every step that `mode` allows. May be killed anywhere and run again, also beside itself.
 *
 * @returns the versions before and after; 0 before for a new database
 * @throws ConfigError when the database is of an earlier build
 */
export async function migrate(
  database: SchemaDatabase,
  schema: Schema,
  mode: Exclude<MigrateMode, "off">,
): Promise<{ from: number; to: number }> {
  const states = new SchemaStates(database.db);
  const found = await states.read();
  let state = found ?? (await states.found(versionOf(schema)));
  for (let next = nextState(state, schema, mode); next; next = nextState(state, schema, mode)) {
    await enter(database, schema, next);
    state = await states.advance(state, next);
  }
  if (state.version === versionOf(schema)) await ensureIndexes(database.db, schema.indexes);
  return { from: found?.version ?? 0, to: state.version };
}

/** What follows a state; undefined where `mode` or the last step ends the way. */
function nextState(
  { version, phase }: SchemaState,
  schema: Schema,
  mode: Exclude<MigrateMode, "off">,
): SchemaState | undefined {
  const last = versionOf(schema);
  if (version < schema.base || version > last) return undefined;
  if (phase === "rewritten") return version === last ? undefined : { version: version + 1, phase: "prepared" };
  if (mode === "prepare") return undefined;
  return { version, phase: phase === "prepared" ? "rewriting" : "rewritten" };
}

/** Does what has to be done before a database is in a state. */
async function enter(database: SchemaDatabase, schema: Schema, { version, phase }: SchemaState): Promise<void> {
  const step = schema.steps.find((each) => each.version === version);
  if (phase === "prepared") {
    await step?.prepare(database);
    await ensureIndexes(database.db, schema.indexes);
  } else if (phase === "rewritten") {
    await step?.rewrite(database);
    await schema.onRewritten?.(database);
  }
}

/** Why the code cannot work with a database, and what to do; undefined when it can. */
function faultOf(state: SchemaState | undefined, schema: Schema, missing: readonly string[]): string | undefined {
  const own = versionOf(schema);
  if (!state) return `is new: ${prepareFirst}`;
  const { version, phase } = state;
  if (version === own) return missing.length === 0 ? undefined : `lacks ${missing.join(", ")}: ${prepareFirst}`;
  if (version === own + 1 && phase === "prepared") return undefined;
  if (version < schema.base) return startOver;
  const stands = `is ${phase} at version ${version}, and this code needs ${own}`;
  if (version > own) return `${stands}: start newer code`;
  const next =
    version === own - 1 && phase === "rewritten" ? prepareFirst : "end its processes, and run src/migrate.ts";
  return `${stands}: ${next}`;
}

const prepareFirst = "run src/migrate.ts --prepare";
