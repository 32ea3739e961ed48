import { randomBytes } from "node:crypto";

/** A database name nobody else has: call it once in a test file (once for each service in an end-to-end test). */
export function testDatabaseName(label = "test"): string {
  return `${label}_${randomBytes(6).toString("hex")}`;
}

/** `url` with `database` as the one a client takes when it names none. */
export function databaseUrl(url: string, database: string): string {
  const [, hosts = "", query = ""] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)\/?[^?]*(\?.*)?$/.exec(url) ?? [];
  return `${hosts}/${database}${query}`;
}
