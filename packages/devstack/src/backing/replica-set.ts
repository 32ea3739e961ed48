import { type Db, MongoClient, MongoNetworkError, MongoServerError } from "mongodb";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { type DatabaseUser, ensureUser, userUrl } from "./database-users.ts";

export const replicaSetName = "vidimus";

/**
 * Without `directConnection`: with it the driver would not wait for the primary while mongod
 * restarts.
 */
export function replicaSetUrl(port: number): string {
  return `mongodb://127.0.0.1:${port}/?replicaSet=${replicaSetName}`;
}

/** Secrets of a mongod with access control. */
export interface MongodAccess {
  /**
   * Key file of the replica set, mode 0600. Its content is the password of `__system`, who may do
   * everything, and is read at each start of mongod.
   */
  readonly keyFile: string;
  /** Password of the user `operator`, who may do everything, too. Each start sets it. */
  readonly operatorPassword: string;
}

interface PrimaryOptions {
  readonly electionTimeoutMillis: number;
  readonly access?: MongodAccess | undefined;
  readonly signal: AbortSignal;
}

export function operatorUrl(port: number, { operatorPassword: password }: MongodAccess): string {
  return userUrl(replicaSetUrl(port), { user: "operator", password, database: "admin" });
}

/**
 * Makes the mongod on `port` the writable primary of a one-node replica set. Initiates a new set.
 * Changes the address in the configuration of a set that had another port: a node whose own address
 * is not in the configuration never joins the set.
 *
 * With access control this is done as `__system`, so that it works on a data folder without users,
 * and on one whose `operator` has a lost password.
 *
 * @param options.signal ends the wait for a mongod that is still loading its configuration
 */
export async function becomePrimary(port: number, options: PrimaryOptions): Promise<void> {
  const { access, electionTimeoutMillis, signal } = options;
  const system = access && (await systemUser(access));
  const as = (url: string) => (system ? userUrl(url, system) : url);
  await onceLoaded(signal, () =>
    configure(as(`mongodb://127.0.0.1:${port}/?directConnection=true`), port, electionTimeoutMillis),
  );
  await using client = new MongoClient(as(replicaSetUrl(port)), { serverSelectionTimeoutMS: 60_000 });
  await client.db("admin").command({ ping: 1 }, { readPreference: "primary" });
  if (access)
    await ensureUser(client.db("admin"), "operator", access.operatorPassword, [{ role: "root", db: "admin" }]);
}

/**
 * Repeats a step until mongod has loaded its configuration. mongod accepts connections before that,
 * but says that there is no configuration, refuses a new one, and may close the connections.
 */
async function onceLoaded(signal: AbortSignal, step: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      const loading = error instanceof MongoServerError && error.codeName === "AlreadyInitialized";
      if (!loading && !(error instanceof MongoNetworkError)) throw error;
      await delay(50, undefined, { signal });
    }
  }
}

async function systemUser({ keyFile }: MongodAccess): Promise<DatabaseUser> {
  return { user: "__system", password: (await readFile(keyFile, "utf8")).trim(), database: "local" };
}

async function configure(url: string, port: number, electionTimeoutMillis: number): Promise<void> {
  await using client = new MongoClient(url);
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
