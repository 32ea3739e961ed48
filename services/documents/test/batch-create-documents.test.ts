import { profiled } from "@vidimus/devstack/testing/profile";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { json, runDocuments, type RunningDocuments } from "./support/running-documents.ts";

let documents: RunningDocuments;
let mesh: RpcClient<typeof DocumentService>;
let mongo: MongoClient;

beforeAll(async () => {
  documents = await runDocuments({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  mesh = openRpcClient(DocumentService, { target: documents.meshTarget });
  mongo = await MongoClient.connect(inject("mongoUrl"), { monitorCommands: true });
});

afterAll(async () => {
  await mongo.close();
  mesh[Symbol.dispose]();
  await documents[Symbol.asyncDispose]();
});

function item(id: string, more: object = {}, tenantId = "demo") {
  return {
    tenantId,
    draft: { documentJson: json({ id, type: "core/article", title: "T", ...more }), intakeToken: "" },
  };
}

async function creatorOf(documentId: string, tenantId = "demo") {
  const { entries } = await documents.client.listDocumentHistory({ tenantId, documentId });
  const { actor, role } = entries.at(-1)?.by ?? {};
  return { actor, role };
}

test("a batch gives each item a result of its own, in the order of the items, valid or not", async () => {
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

async function createWrapped(intakeToken: string) {
  const documentJson = json({ version: 1, payload: { type: "core/tag", title: "Sea" } });
  const items = [{ tenantId: "wrapped", draft: { documentJson, intakeToken } }];
  return (await documents.client.batchCreateDocuments({ items })).results[0]?.outcome.value;
}

test("a wrapped item without an intake token is invalid", async () => {
  const refusal = { kind: "invalid", reason: "missing", message: "draft.intake_token is missing" };
  expect(await createWrapped("")).toMatchObject(refusal);
});

test("a wrapped item that is repeated with its intake token is stored once", async () => {
  const intakeToken = randomUUID();
  const first = await createWrapped(intakeToken);
  expect(first).toMatchObject({ documentId: expect.any(String) });
  expect(await createWrapped(intakeToken)).toEqual(first);
  expect(await mongo.db(documents.database).collection("heads").countDocuments({ tenantId: "wrapped" })).toBe(1);
});

test("a batch answers internal for the item that meets a bug, not for items of other tenants", async () => {
  const generations = mongo.db(documents.database).collection("schemas");
  await generations.insertOne({ tenantId: "broken", type: "core/article", generation: 1 });
  const [first, second] = [randomUUID(), randomUUID()];
  const items = [item(first), item(randomUUID(), {}, "broken"), item(second, {}, "rival")];
  const named = items.map((each) => Object.assign({ createdBy: { actor: "key:a", role: "integrator" } }, each));
  for (const client of [documents.client, mesh]) {
    const { results } = await client.batchCreateDocuments({ items: client === mesh ? named : items });
    expect(results.map(({ outcome }) => outcome.value)).toMatchObject([
      client === mesh ? { kind: "already_exists" } : { documentId: first },
      { kind: "internal", message: "internal error" },
      client === mesh ? { kind: "already_exists" } : { documentId: second },
    ]);
  }
  const { results } = await documents.client.importDocuments({ tenantId: "broken", drafts: [items[1]!.draft] });
  expect(results[0]?.outcome.value).toMatchObject({ kind: "internal" });
});

test("64 documents are stored by one insert", async () => {
  const db = mongo.db(documents.database);
  const ids = Array.from({ length: 64 }, () => randomUUID());
  const create = () => documents.client.batchCreateDocuments({ items: ids.map((id) => item(id)) });
  const { result, entries: inserts } = await profiled(db, { ns: `${documents.database}.heads` }, create);
  expect(result.results.map(({ outcome }) => outcome.case === "created" && outcome.value.documentId)).toEqual(ids);
  expect(inserts.map(({ op, ninserted }) => ({ op, ninserted }))).toEqual([{ op: "insert", ninserted: 64 }]);
});

/** The caller of the mesh door, who is not the creator of the items. */
const headers = { "vidimus-actor": "key:caller", "vidimus-role": "integrator" };

test("on the mesh door the creator of a document is the one that its item names, not the caller", async () => {
  const [mine, theirs] = [randomUUID(), randomUUID()];
  const items = [
    { ...item(mine), createdBy: { actor: "key:mine", role: "integrator" } },
    { ...item(theirs, {}, "rival"), createdBy: { actor: "key:theirs", role: "integrator" } },
  ];
  await mesh.batchCreateDocuments({ items }, { headers });
  expect(await creatorOf(mine)).toEqual({ actor: "key:mine", role: "integrator" });
  expect(await creatorOf(theirs, "rival")).toEqual({ actor: "key:theirs", role: "integrator" });
});

test("on the mesh door an item that names no creator fails the whole call", async () => {
  const beside = randomUUID();
  const mixed = [{ ...item(beside), createdBy: { actor: "key:mine", role: "integrator" } }, item(randomUUID())];
  const unnamed = await mesh.batchCreateDocuments({ items: mixed }, { headers }).catch(fromConnectError);
  expect(unnamed).toMatchObject({ kind: "invalid", message: "created_by is missing" });
  expect(await mongo.db(documents.database).collection("heads").countDocuments({ documentId: beside })).toBe(0);
});

test("on the teams door a create that names its creator is invalid, alone or in a batch", async () => {
  const named = { ...item(randomUUID()), createdBy: { actor: "somebody else", role: "admin" } };
  const calls = [documents.client.batchCreateDocuments({ items: [named] }), documents.client.createDocument(named)];
  for (const { reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[])
    expect(fromConnectError(reason)?.kind).toBe("invalid");
});

test("the same batch at two replicas at once is answered by both with every document created", async () => {
  const options = { mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl"), database: documents.database };
  await using twin = await runDocuments(options);
  using twinMesh = openRpcClient(DocumentService, { target: twin.meshTarget });
  for (let round = 0; round < 10; round++) {
    const items = Array.from({ length: 16 }, () => {
      const draft = { ...item(randomUUID()).draft, intakeToken: randomUUID() };
      return { ...item(""), draft, createdBy: { actor: "key:mine", role: "integrator" } };
    });
    const [one, other] = await Promise.all([mesh, twinMesh].map((each) => each.batchCreateDocuments({ items })));
    expect(one!.results.map(({ outcome }) => outcome.case)).toEqual(items.map(() => "created"));
    expect(other!.results).toEqual(one!.results);
  }
});

test.each([0, 65])("a batch of %i items is invalid", async (count) => {
  const items = Array.from({ length: count }, () => item(randomUUID()));
  const error: unknown = await documents.client.batchCreateDocuments({ items }).catch((reason: unknown) => reason);
  expect(fromConnectError(error)?.kind).toBe("invalid");
});
