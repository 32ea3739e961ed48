import { expect, test } from "vitest";
import { ensureDatabaseUsers, findDatabaseUsers, hasUser, userUrl } from "./database-users.ts";

const ida = { user: "ida", password: "p/@w", database: "news" };

test.for([
  ["mongodb://127.0.0.1:1/?replicaSet=r", "mongodb://ida:p%2F%40w@127.0.0.1:1/?replicaSet=r&authSource=news"],
  ["mongodb://root:x@a:1,b:2/?authSource=admin&tls=true", "mongodb://ida:p%2F%40w@a:1,b:2/?authSource=news&tls=true"],
  ["mongodb+srv://root:x@a/other", "mongodb+srv://ida:p%2F%40w@a/?authSource=news"],
  ["mongodb://a", "mongodb://ida:p%2F%40w@a/?authSource=news"],
] as const)("the connection string %s is rewritten for another user", ([url, expected]) => {
  expect(userUrl(url, ida)).toBe(expected);
});

test("an @ in the options of a connection string does not count as a user", () => {
  expect(hasUser("mongodb://a:1/?x=b@c")).toBe(false);
});

test("a user in a connection string is recognised", () => {
  expect(hasUser("mongodb+srv://ida:pw@a")).toBe(true);
});

test.each([
  ["created", ensureDatabaseUsers],
  ["looked up", findDatabaseUsers],
])("users are not %s over a connection that asks for zlib", async (_done, call) => {
  const url = "mongodb://root:x@127.0.0.1:1/?serverSelectionTimeoutMS=1&compressors=snappy,zlib";
  await expect(call(url, [ida])).rejects.toThrow("compressors=zlib is not negotiated");
});
