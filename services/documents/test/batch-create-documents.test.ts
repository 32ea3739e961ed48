import { fromConnectError } from "@vidimus/kit/rpc/error-table";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { json, runDocuments, type RunningDocuments } from "./running-documents.ts";

let documents: RunningDocuments;
let mongo: MongoClient;

beforeAll(async () => {
  documents = await runDocuments({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  mongo = await MongoClient.connect(inject("mongoUrl"), { monitorCommands: true });
});

afterAll(async () => {
  await mongo.close();
  await documents[Symbol.asyncDispose]();
});

function item(id: string, more: object = {}, tenantId = "demo") {
  return {
    tenantId,
    draft: { documentJson: json({ id, type: "core/article", title: "T", ...more }), intakeToken: "" },
  };
}

test("each item is judged alone: bad ones cost their neighbours nothing, results keep the order", async () => {
  const taken = randomUUID();
  await documents.client.batchCreateDocuments({ items: [item(taken)] });
  const [first, second, twice, elsewhere] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const { results } = await documents.client.batchCreateDocuments({
    items: [
      item(first),
      item(taken),
      item("nonsense"),
      item(twice),
      item(twice, { title: "again" }),
      item(randomUUID(), { title: 7 }),
      item(elsewhere, {}, "Not a tenant"),
      item(taken, {}, "rival"),
      item(taken, { type: "no/such" }),
      item(second),
    ],
  });
  const outcomes = results.map(({ outcome }) =>
    outcome.case === "error" ? outcome.value.kind : outcome.value?.documentId,
  );
  expect(outcomes).toEqual([
    first,
    "already_exists",
    "invalid",
    twice,
    "already_exists",
    "invalid",
    "invalid",
    taken,
    "already_exists",
    second,
  ]);
  const heads = mongo.db(documents.database).collection("heads");
  expect(await heads.countDocuments({ tenantId: "demo" })).toBe(4);
});

test("64 documents are stored by one insert", async () => {
  const db = mongo.db(documents.database);
  await db.command({ profile: 2 });
  const ids = Array.from({ length: 64 }, () => randomUUID());
  const { results } = await documents.client.batchCreateDocuments({ items: ids.map((id) => item(id)) });
  await db.command({ profile: 0 });
  expect(results.map(({ outcome }) => outcome.case === "created" && outcome.value.documentId)).toEqual(ids);
  const inserts = await db
    .collection("system.profile")
    .find({ ns: `${documents.database}.heads` })
    .toArray();
  expect(inserts.map(({ op, ninserted }) => ({ op, ninserted }))).toEqual([{ op: "insert", ninserted: 64 }]);
});

test.each([0, 65])("a batch of %i items is refused as a whole", async (count) => {
  const items = Array.from({ length: count }, () => item(randomUUID()));
  const error: unknown = await documents.client.batchCreateDocuments({ items }).catch((reason: unknown) => reason);
  expect(fromConnectError(error)?.kind).toBe("invalid");
});
