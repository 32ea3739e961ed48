import { randomBytes } from "node:crypto";

/** Returns a new database name, because all test files share one MongoDB. */
export function testDatabaseName(label = "test"): string {
  return `${label}_${randomBytes(6).toString("hex")}`;
}

/** Returns `url` with `database` as the default database of its clients. */
export function databaseUrl(url: string, database: string): string {
  const [, hosts = "", query = ""] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)\/?[^?]*(\?.*)?$/.exec(url) ?? [];
  return `${hosts}/${database}${query}`;
}
