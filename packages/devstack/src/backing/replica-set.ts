import { type Db, MongoClient, MongoServerError } from "mongodb";

export const replicaSetName = "vidimus";

/**
 * Without `directConnection` in it, because only then the driver waits for the primary while mongod
 * restarts.
 */
export function replicaSetUrl(port: number): string {
  return `mongodb://127.0.0.1:${port}/?replicaSet=${replicaSetName}`;
}

/**
 * Makes the mongod on `port` the writable primary of a one-node replica set. Initiates a new set.
 * Changes the address in the configuration of a set that had another port: a node whose own address
 * is not in the configuration never joins the set.
 */
export async function becomePrimary(port: number, electionTimeoutMillis: number): Promise<void> {
  await configure(port, electionTimeoutMillis);
  await using client = new MongoClient(replicaSetUrl(port), { serverSelectionTimeoutMS: 60_000 });
  await client.db("admin").command({ ping: 1 }, { readPreference: "primary" });
}

async function configure(port: number, electionTimeoutMillis: number): Promise<void> {
  await using client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
  const admin = client.db("admin");
  const wanted = { members: [{ _id: 0, host: `127.0.0.1:${port}` }], settings: { electionTimeoutMillis } };
  const current = await currentConfig(admin);
  if (current === undefined) {
    await admin.command({ replSetInitiate: { _id: replicaSetName, ...wanted } });
  } else if (!agrees(current, wanted)) {
    const config = { ...current, version: current.version + 1, members: wanted.members };
    const settings = { ...current.settings, ...wanted.settings };
    // Forced, because a node outside of its set has no primary to accept the change.
    await admin.command({ replSetReconfig: { ...config, settings }, force: true });
  }
}

interface ReplicaSetConfig {
  readonly version: number;
  readonly members: readonly { readonly host: string }[];
  readonly settings: { readonly electionTimeoutMillis: number };
}

function agrees(current: ReplicaSetConfig, wanted: Omit<ReplicaSetConfig, "version">): boolean {
  return (
    current.members[0]?.host === wanted.members[0]?.host &&
    current.settings.electionTimeoutMillis === wanted.settings.electionTimeoutMillis
  );
}

async function currentConfig(admin: Db): Promise<ReplicaSetConfig | undefined> {
  try {
    return (await admin.command({ replSetGetConfig: 1 }))["config"] as ReplicaSetConfig;
  } catch (error) {
    if (error instanceof MongoServerError && error.codeName === "NotYetInitialized") return undefined;
    throw error;
  }
}
