import { expect, test } from "vitest";
import { databaseUrl, testDatabaseName } from "./database.ts";

test("1000 calls of testDatabaseName return 1000 different names", () => {
  const names = Array.from({ length: 1000 }, () => testDatabaseName("documents"));
  expect(new Set(names).size).toBe(1000);
});

test.for([
  ["mongodb://127.0.0.1:1/?replicaSet=r", "mongodb://127.0.0.1:1/db?replicaSet=r"],
  ["mongodb://127.0.0.1:1", "mongodb://127.0.0.1:1/db"],
  ["mongodb://a:1,b:2/other?replicaSet=r", "mongodb://a:1,b:2/db?replicaSet=r"],
  ["mongodb+srv://user:secret@host/", "mongodb+srv://user:secret@host/db"],
] as const)("with the default database db the URL %s becomes %s", ([url, expected]) => {
  expect(databaseUrl(url, "db")).toBe(expected);
});
