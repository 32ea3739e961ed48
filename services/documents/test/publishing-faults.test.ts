import { openMongo, type Mongo } from "@vidimus/kit/mongo";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createTenantRegistry } from "../src/domain/types/tenant-registry.ts";
import { defaultWorkflow } from "../src/domain/workflow/default-workflow.ts";
import { openPublication, type Publication } from "../src/publication.ts";
import { SchemaStore } from "../src/store/schema-store.ts";
import { article, type Publishing, runPublishing } from "./publishing.ts";

/** Fail points are aimed by this name, at nobody else's connections. */
const appName = "publishing-faults-test";
const by = { actor: "ed", role: "editor" };
let service: Publishing;
let mongo: Mongo;
let publication: Publication;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  mongo = await openMongo({ url: inject("mongoUrl"), database: service.database, appName });
  const types = createTenantRegistry({ schemas: new SchemaStore(mongo.db), currentWorkflow: async () => undefined });
  const workflow = async () => defaultWorkflow;
  publication = await openPublication({ mongo, types, workflow, announce: () => {} });
});
afterAll(async () => {
  await mongo[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

async function failCommands(failCommands: string[], fault: object, mode: object): Promise<void> {
  await using client = await new MongoClient(inject("mongoUrl")).connect();
  const data = { failCommands, appName, ...fault };
  await client.db("admin").command({ configureFailPoint: "failCommand", mode, data });
}

async function countRows(tenantId: string): Promise<Record<string, number>> {
  const names = ["publications", "snapshots", "history"];
  const counts = names.map(async (name) => [name, await service.db.collection(name).countDocuments({ tenantId })]);
  return Object.fromEntries(await Promise.all(counts));
}

const conflict = { errorCode: 112, errorLabels: ["TransientTransactionError"] };

test.each([
  ["a write conflict", ["findAndModify"], conflict],
  ["a write conflict midway", ["insert"], conflict],
  ["a connection cut midway", ["insert"], { closeConnection: true }],
  ["a session killed midway", ["insert"], { errorCode: 11601 }],
  ["a session killed at the commit", ["commitTransaction"], { errorCode: 11601 }],
  ["an unknown outcome of the commit", ["commitTransaction"], { errorCode: 91 }],
  ["a connection cut at the commit", ["commitTransaction"], { closeConnection: true }],
])("%s publishes once all the same", async (label, commands, fault) => {
  const tenantId = label.replaceAll(" ", "_").slice(0, 32);
  const ids = await Promise.all(Array.from({ length: 5 }, () => service.create(tenantId, article())));
  await failCommands(commands, fault, { times: 3 });
  const moves = ids.map((documentId) =>
    publication.move(tenantId, { documentId, name: "publish", expectedVersion: 1, by }),
  );
  expect((await Promise.all(moves)).map(({ sequence }) => sequence)).toEqual([1, 1, 1, 1, 1]);
  expect(await countRows(tenantId)).toEqual({ publications: 5, snapshots: 5, history: 5 });
});

test("a fault that nobody expects fails the transition and leaves the document as it was", async () => {
  const tenantId = "broken";
  const documentId = await service.create(tenantId, article());
  await failCommands(["insert"], { errorCode: 2 }, { times: 1 });
  const move = { documentId, name: "publish", expectedVersion: 1, by };
  await expect(publication.move(tenantId, move)).rejects.toThrow("failCommand");
  expect(await countRows(tenantId)).toEqual({ publications: 0, snapshots: 0, history: 0 });
  expect(await publication.move(tenantId, move)).toMatchObject({ status: "usable", sequence: 1 });
});
