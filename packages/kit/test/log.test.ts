import { databaseUrl, testDatabaseName } from "@vidimus/devstack/testing/database";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { errorText } from "@vidimus/kit/telemetry/describe-error";
import { DomainError } from "@vidimus/kit/errors";
import { createLogger } from "@vidimus/kit/telemetry/log";

const client = new MongoClient(databaseUrl(inject("mongoUrl"), testDatabaseName("log")));
const rows = client.db().collection<{ _id: string; body: string }>("rows");
beforeAll(() => rows.insertOne({ _id: "ferry-cancelled", body: "first" }));
afterAll(async () => {
  await client.db().dropDatabase();
  await client.close();
});

/** The driver's error for a bulk insert whose second row exists already. It contains both rows. */
async function bulkError(): Promise<unknown> {
  const taken = ["new-row", "ferry-cancelled"].map((_id) => ({ _id, body: "the whole body" }));
  return rows.insertMany(taken, { ordered: false }).then(
    () => "no error",
    (error: unknown) => error,
  );
}

function lineOf(error: unknown): string {
  let line = "";
  createLogger("test", "info", { write: (text) => void (line += text) }).warn({ err: error }, "failed");
  return line;
}

test.each([
  ["is logged itself", (error: unknown) => error],
  ["is a cause", (error: unknown) => new DomainError("unavailable", "not now", { cause: error })],
  ["is the cause of a cause", (error: unknown) => new Error("a", { cause: new Error("b", { cause: error }) })],
  ["is one of several", (error: unknown) => new AggregateError([new Error("a"), error], "both")],
])("no text of the rows of a refused bulk insert is logged when its error %s", async (_, wrapped) => {
  const error = wrapped(await bulkError());
  for (const text of [lineOf(error), errorText(error)]) {
    expect(text).toContain("E11000 duplicate key error");
    expect(text).toContain("log.test.ts");
    expect(text).not.toMatch(/whole body|ferry-cancelled|new-row/);
  }
});

const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", port: 2, secret: "hunter2" });

test("a line about an error contains its type, kind and message, and its cause with code and port", () => {
  const line = lineOf(new DomainError("unavailable", "not now", { cause }));
  expect(JSON.parse(line)).toMatchObject({
    level: "warn",
    err: {
      type: "DomainError",
      kind: "unavailable",
      message: "not now",
      cause: { type: "Error", code: "ECONNREFUSED", port: 2 },
    },
  });
});

test("the property `secret` of an error's cause is not logged", () => {
  expect(lineOf(new DomainError("unavailable", "not now", { cause }))).not.toContain("hunter2");
});

test("an error that is its own cause still makes a line of JSON", () => {
  const error = new Error("round");
  error.cause = error;
  expect(JSON.parse(lineOf(error))).toMatchObject({ err: { message: "round", cause: { message: "round" } } });
});

test("a thrown string is logged by its type, without its text", () => {
  const line = lineOf("the whole body");
  expect(JSON.parse(line)).toMatchObject({ err: { type: "string", message: "thrown without an Error" } });
  expect(line).not.toContain("whole body");
});
