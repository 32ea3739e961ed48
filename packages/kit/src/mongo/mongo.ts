import { type Db, MongoClient, type MongoClientOptions } from "mongodb";
import { channel } from "node:diagnostics_channel";
import { withinDeadline } from "../deadline.ts";
import { ConfigError } from "../env.ts";

/** A command to mongod as `mongoCommands` publishes it, without its content. */
export interface MongoCommand {
  readonly appName: string;
  readonly database: string;
  /** Name of the command, for example `find`. */
  readonly name: string;
  /** "" where the first member of the command names no collection, as in `getMore`. */
  readonly collection: string;
}

/**
 * Every command (`MongoCommand`) of clients that were opened while the channel had a subscriber.
 * Tests count the cost of an operation with it. Without a subscriber the driver's command
 * monitoring is off and costs nothing.
 */
export const mongoCommands = channel("vidimus:mongo-command");

interface MongoOptions {
  /** Connection string of a replica set or a sharded cluster. */
  url: string;
  database: string;
  /** Shown in the server's logs. Fail points and command counts of tests select by it. */
  appName: string;
  /** Most connections to each server; 20 by default. */
  poolSizeMax?: number;
}

/** An open database. Disposing it closes its connections. */
export interface Mongo extends AsyncDisposable {
  readonly client: MongoClient;
  readonly db: Db;
  /** Resolves when the primary answers, rejects when it does not within two seconds. */
  ping(): Promise<void>;
}

/**
 * Connects to MongoDB. Writes are acknowledged by a majority, with their journal.
 *
 * `journal: true` is explicit because `w: "majority"` alone waits for the periodic journal flush,
 * at a third of the rate. `timeoutMS` is not set because it has no effect in this driver. Calls are
 * bounded by server selection, the wait queue, the socket, and `maxTimeMS` where a query could run
 * long.
 *
 * @throws ConfigError naming MONGODB_URL when the URL is malformed, when no primary answers within
 * 3.5 s, when the server refuses the user, or when the URL asks for zlib. The message contains no
 * credentials.
 */
export async function openMongo(options: MongoOptions): Promise<Mongo> {
  const client = createClient(options);
  await connect(client);
  const db = client.db(options.database);
  return {
    client,
    db,
    ping: async () => {
      await db.command({ ping: 1 }, { signal: AbortSignal.timeout(2_000) });
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function createClient(options: MongoOptions): MongoClient {
  const settings: MongoClientOptions = {
    appName: options.appName,
    maxPoolSize: options.poolSizeMax ?? 20,
    writeConcern: { w: "majority", journal: true },
    readConcernLevel: "majority",
    serverSelectionTimeoutMS: 5_000,
    waitQueueTimeoutMS: 5_000,
    connectTimeoutMS: 3_000,
    socketTimeoutMS: 30_000,
    monitorCommands: mongoCommands.hasSubscribers,
  };
  try {
    const client = new MongoClient(options.url, settings);
    refuseZlib(client);
    return reportCommands(client, options.appName);
  } catch (error) {
    throw unusable(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Refuses zlib, so that operators can switch it off in mongod: without the fix for CVE-2025-14847
 * mongod gives its memory away to whoever sends zlib. The driver uses zlib only when the URL asks
 * for it.
 *
 * @throws Error when the client's URL asks for zlib
 */
export function refuseZlib(client: MongoClient): void {
  const wanted: readonly string[] = client.options.compressors;
  if (wanted.includes("zlib")) throw new Error("compressors=zlib is not negotiated; leave compressors out of the URL");
}

function reportCommands(client: MongoClient, appName: string): MongoClient {
  if (!mongoCommands.hasSubscribers) return client;
  return client.on("commandStarted", ({ databaseName: database, commandName: name, command }) => {
    const target: unknown = command[name];
    const collection = typeof target === "string" ? target : "";
    mongoCommands.publish({ appName, database, name, collection } satisfies MongoCommand);
  });
}

/**
 * A start whose MongoDB does not answer must end within 5 s, and starting Node takes a part of this
 * time.
 */
const firstAnswerMs = 3_500;

async function connect(client: MongoClient): Promise<void> {
  const faults = new Map<string, string>();
  client.on("serverHeartbeatFailed", ({ connectionId, failure }) => {
    faults.set(connectionId, failure.message);
  });
  const connecting = client.connect();
  try {
    if (await withinDeadline(connecting, firstAnswerMs)) return;
  } catch (error) {
    await client.close();
    throw unusable(error instanceof Error ? error.message : String(error));
  } finally {
    client.removeAllListeners("serverHeartbeatFailed");
  }
  connecting.catch(() => {});
  await withinDeadline(client.close(), 500);
  const reasons = [...faults].map(([address, reason]) => `${address}: ${reason}`);
  throw unusable(`no primary answered within ${firstAnswerMs / 1000} s (${reasons.join("; ") || "no answer at all"})`);
}

/** Removes credentials: the driver's messages quote malformed URLs. */
function unusable(reason: string): ConfigError {
  return new ConfigError(`MONGODB_URL: ${reason.replaceAll(/\/\/[^/@\s]*@/g, "//…@")}`);
}
