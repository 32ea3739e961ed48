import { refuseZlib } from "@vidimus/kit/mongo/mongo";
import { type Db, MongoClient, MongoServerError } from "mongodb";

/**
 * A user who may read and write one database, read the audit log beside it and append to it, and do
 * nothing else.
 */
export interface DatabaseUser {
  readonly user: string;
  readonly password: string;
  /** The database that the user may write. It also stores the user (`authSource`). */
  readonly database: string;
}

/** Codes with which `createUser` and `createRole` report an existing name. */
const alreadyExists: ReadonlySet<unknown> = new Set([51_002, 51_003]);

const appendRole = "append";

/**
 * Creates the users. Passwords and roles of existing users are replaced.
 *
 * @param adminUrl of a user who may create users and roles
 */
export async function ensureDatabaseUsers(adminUrl: string, users: readonly DatabaseUser[]): Promise<void> {
  await using client = openAdmin(adminUrl);
  for (const { user, password, database } of users) {
    const audit = await ensureAppendRole(client.db(`${database}_audit`));
    await ensureUser(client.db(database), user, password, [{ role: "readWrite", db: database }, audit]);
  }
}

function openAdmin(url: string): MongoClient {
  const client = new MongoClient(url, { appName: "vidimus-users" });
  refuseZlib(client);
  return client;
}

/**
 * The role of a service's user in its audit log. In MongoDB no role can take away what another one
 * gives, such as `readWrite` for the service's database, so the log has a database of its own.
 */
async function ensureAppendRole(audit: Db): Promise<object> {
  const { databaseName: db } = audit;
  // Without `createIndex`, because an index can expire rows.
  const actions = ["find", "insert", "createCollection"];
  const settings = { privileges: [{ resource: { db, collection: "entries" }, actions }], roles: [] };
  await ensure(audit, "Role", appendRole, { ...settings, writeConcern });
  return { role: appendRole, db };
}

const writeConcern = { w: "majority", j: true };

/** Creates a user of a database, or sets the password and the roles of an existing one. */
export async function ensureUser(db: Db, user: string, password: string, roles: readonly object[]): Promise<void> {
  await ensure(db, "User", user, { pwd: password, roles, mechanisms: ["SCRAM-SHA-256"], writeConcern });
}

async function ensure(db: Db, what: "User" | "Role", name: string, settings: object): Promise<void> {
  try {
    await db.command({ [`create${what}`]: name, ...settings });
  } catch (error) {
    if (!(error instanceof MongoServerError) || !alreadyExists.has(error.code)) throw error;
    await db.command({ [`update${what}`]: name, ...settings });
  }
}

/** Returns the names of those users that exist. */
export async function findDatabaseUsers(
  adminUrl: string,
  users: readonly Omit<DatabaseUser, "password">[],
): Promise<ReadonlySet<string>> {
  await using client = openAdmin(adminUrl);
  const found = new Set<string>();
  for (const { user, database } of users) {
    const answer = await client.db(database).command({ usersInfo: user });
    if ((answer["users"] as unknown[]).length > 0) found.add(user);
  }
  return found;
}

const urlParts = /^(mongodb(?:\+srv)?:\/\/)(?:[^/?@]*@)?([^/?@]+)\/?[^?]*(?:\?(.*))?$/;

/** Returns the connection string `url` with this user and password instead of its own. */
export function userUrl(url: string, { user, password, database }: DatabaseUser): string {
  const [, protocol = "", hosts = "", query = ""] = urlParts.exec(url) ?? [];
  const options = new URLSearchParams(query);
  // These options belong to the user that `url` names.
  for (const name of ["authMechanism", "authMechanismProperties"]) options.delete(name);
  options.set("authSource", database);
  return `${protocol}${encodeURIComponent(user)}:${encodeURIComponent(password)}@${hosts}/?${options}`;
}

export function hasUser(url: string): boolean {
  return /^mongodb(?:\+srv)?:\/\/[^/?@]+@/.test(url);
}
