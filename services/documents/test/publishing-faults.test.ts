import { failCommands } from "@vidimus/devstack/testing/fail-commands";
import { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { openMongo, type Mongo } from "@vidimus/kit/mongo/mongo";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Checking, openChecking } from "../src/checking/open-checking.ts";
import { createTypeRegistry } from "../src/domain/types/type-registry.ts";
import { defaultWorkflow } from "../src/domain/workflow/default-workflow.ts";
import { openPublishing, type PublishingParts } from "../src/open-publishing.ts";
import { SchemaStore } from "../src/store/schema-store.ts";
import { article, type Publishing, runPublishing } from "./support/publishing.ts";

/** Fail points apply only to connections of this name. */
const appName = "publishing-faults-test";
const by = { actor: "ed", role: "editor" };
let service: Publishing;
let mongo: Mongo;
let publishing: PublishingParts;
let checking: Checking;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  mongo = await openMongo({ url: inject("mongoUrl"), database: service.database, appName });
  checking = openChecking({ threads: 2, registry: new Registry(), log: createLogger("test", "silent") });
  const schemas = new SchemaStore(mongo.db, await AuditLog.open(mongo, createLogger("test", "silent")));
  const types = createTypeRegistry({ schemas, currentWorkflow: async () => undefined, checks: checking.checks });
  const workflow = async () => defaultWorkflow;
  publishing = openPublishing({
    mongo,
    tracing: undefined,
    types,
    workflow,
    now: () => new Date(),
    announce: () => {},
    sequenceFloor: 0,
  });
});
afterAll(async () => {
  await checking[Symbol.asyncDispose]();
  await mongo[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

function fail(commands: string[], fault: object, times: number) {
  return failCommands(inject("mongoUrl"), { failCommands: commands, appName, ...fault }, { times });
}

async function countRows(tenantId: string): Promise<Record<string, number>> {
  const names = ["publications", "snapshots", "history"];
  const counts = names.map(async (name) => [name, await service.db.collection(name).countDocuments({ tenantId })]);
  return Object.fromEntries(await Promise.all(counts));
}

/**
 * ExceededTimeLimit, which may be retried. After a code by which a primary says that it steps down
 * or stops, the driver would wait for the primary's next heartbeat. A primary that really stops
 * sends it at once, but the primary of this test only after up to 10 s.
 */
const unknownOutcome = { errorCode: 262, errorLabels: ["RetryableWriteError"] };
const conflict = { errorCode: 112, errorLabels: ["TransientTransactionError"] };

test.each([
  ["a write conflict", ["findAndModify"], conflict],
  ["a write conflict midway", ["insert"], conflict],
  ["a connection cut midway", ["insert"], { closeConnection: true }],
  ["a session killed midway", ["insert"], { errorCode: 11601 }],
  ["a session killed at the commit", ["commitTransaction"], { errorCode: 11601 }],
  ["an unknown outcome of the commit", ["commitTransaction"], unknownOutcome],
  ["a connection cut at the commit", ["commitTransaction"], { closeConnection: true }],
])("each document is published once despite %s", async (label, commands, fault) => {
  const tenantId = label.replaceAll(" ", "_").slice(0, 32);
  const ids = await Promise.all(Array.from({ length: 5 }, () => service.create(tenantId, article())));
  await using running = await fail(commands, fault, 3);
  const transitions = ids.map((documentId) =>
    publishing.transition(tenantId, { documentId, name: "publish", expectedVersion: 1, by }),
  );
  expect((await Promise.all(transitions)).map(({ sequence }) => sequence)).toEqual([1, 1, 1, 1, 1]);
  expect(await running.end()).toBeGreaterThan(0);
  expect(await countRows(tenantId)).toEqual({ publications: 5, snapshots: 5, history: 5 });
});

test("an unexpected fault fails the transition and leaves the document as it was", async () => {
  const tenantId = "broken";
  const documentId = await service.create(tenantId, article());
  await using _fault = await fail(["insert"], { errorCode: 2 }, 1);
  const request = { documentId, name: "publish", expectedVersion: 1, by };
  const head = () => service.db.collection("heads").findOne({ tenantId, documentId });
  const before = await head();
  await expect(publishing.transition(tenantId, request)).rejects.toThrow("failCommand");
  expect(await countRows(tenantId)).toEqual({ publications: 0, snapshots: 0, history: 0 });
  expect(await head()).toEqual(before);
  expect(await publishing.transition(tenantId, request)).toMatchObject({ status: "usable", sequence: 1 });
});
