import { type Db, MongoClient, MongoServerError } from "mongodb";

/** A user who may read and write one database and nothing else. */
export interface DatabaseUser {
  readonly user: string;
  readonly password: string;
  /** The one database; the user is kept there, too (`authSource`). */
  readonly database: string;
}

/** Code of `createUser` for a user who exists. */
const alreadyExists = 51_003;

/**
 * Creates the users. Those that exist get this password, and this role instead of those they had.
 *
 * @param adminUrl of a user who may create users
 */
export async function ensureDatabaseUsers(adminUrl: string, users: readonly DatabaseUser[]): Promise<void> {
  await using client = new MongoClient(adminUrl, { appName: "vidimus-users" });
  for (const { user, password, database } of users) {
    await ensureUser(client.db(database), user, password, [{ role: "readWrite", db: database }]);
  }
}

/** Creates a user of a database, or gives password and roles anew. */
export async function ensureUser(db: Db, user: string, password: string, roles: readonly object[]): Promise<void> {
  const settings = { pwd: password, roles, mechanisms: ["SCRAM-SHA-256"], writeConcern: { w: "majority", j: true } };
  try {
    await db.command({ createUser: user, ...settings });
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== alreadyExists) throw error;
    await db.command({ updateUser: user, ...settings });
  }
}

/** Returns which of the users exist. */
export async function findDatabaseUsers(
  adminUrl: string,
  users: readonly Omit<DatabaseUser, "password">[],
): Promise<ReadonlySet<string>> {
  await using client = new MongoClient(adminUrl, { appName: "vidimus-users" });
  const found = new Set<string>();
  for (const { user, database } of users) {
    const answer = await client.db(database).command({ usersInfo: user });
    if ((answer["users"] as unknown[]).length > 0) found.add(user);
  }
  return found;
}

const urlParts = /^(mongodb(?:\+srv)?:\/\/)(?:[^/?@]*@)?([^/?@]+)\/?[^?]*(?:\?(.*))?$/;

/** Returns the connection string `url` for another user, who has a password. */
export function userUrl(url: string, { user, password, database }: DatabaseUser): string {
  const [, protocol = "", hosts = "", query = ""] = urlParts.exec(url) ?? [];
  const options = new URLSearchParams(query);
  // Of the user before.
  for (const name of ["authMechanism", "authMechanismProperties"]) options.delete(name);
  options.set("authSource", database);
  return `${protocol}${encodeURIComponent(user)}:${encodeURIComponent(password)}@${hosts}/?${options}`;
}

/** Whether a connection string names a user. */
export function hasUser(url: string): boolean {
  return /^mongodb(?:\+srv)?:\/\/[^/?@]+@/.test(url);
}
