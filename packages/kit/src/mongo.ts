import { MongoClient, type Db } from "mongodb";

/** Where a service keeps its data. */
export interface MongoOptions {
  /** Connection string of a replica set. */
  url: string;
  /** The one database the service owns. */
  database: string;
  /** Shown in the server's logs and aimed at by fail points; the service's name. */
  appName: string;
  /** Most connections; 20 unless said. */
  poolSizeMax?: number;
}

/** An open database; disposing closes its connections. */
export interface Mongo extends AsyncDisposable {
  readonly client: MongoClient;
  readonly db: Db;
  /** Resolves when the primary answers, rejects when it does not within two seconds. */
  ping(): Promise<void>;
}

/**
 * Connects to MongoDB with the platform's durability: majority, journaled.
 *
 * `j: true` is said aloud because `w: "majority"` alone waits for the periodic journal flush, at a third of the rate.
 * `timeoutMS` is never set: it has no effect in this driver; calls are bounded by server selection, the wait queue,
 * the socket, and `maxTimeMS` where a query could run long.
 */
export async function openMongo(options: MongoOptions): Promise<Mongo> {
  const client = new MongoClient(options.url, {
    appName: options.appName,
    maxPoolSize: options.poolSizeMax ?? 20,
    writeConcern: { w: "majority", journal: true },
    readConcernLevel: "majority",
    serverSelectionTimeoutMS: 5_000,
    waitQueueTimeoutMS: 5_000,
    connectTimeoutMS: 3_000,
    socketTimeoutMS: 30_000,
  });
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw error;
  }
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
