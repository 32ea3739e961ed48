/** A request that is repeated with its token is answered as the first was. */
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { type CommandCounter, countCommands } from "@vidimus/devstack/testing/count-commands";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { failure } from "./support/call-failure.ts";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";
import { runDocuments, type RunningDocuments } from "./support/running-documents.ts";

const tenantId = "tokens";
let commands: CommandCounter;
let service: Publishing;
/** A second service on the same database, which stands for another process. */
let replica: RunningDocuments;

beforeAll(async () => {
  commands = countCommands("vidimus-documents");
  const options = { mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") };
  service = await runPublishing(options);
  replica = await runDocuments({ ...options, database: service.database });
});
afterAll(async () => {
  await replica?.[Symbol.asyncDispose]();
  await service?.[Symbol.asyncDispose]();
  commands[Symbol.dispose]();
});

type Client = RunningDocuments["client"];

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

function take(client: Client, documentId: string, name: string, requestToken: string, version = 1) {
  const transition = { documentId, name, expectedVersion: BigInt(version), requestToken };
  return client.transitionDocument({ tenantId, transition }, as("admin"));
}

function update(client: Client, id: string, text: string, requestToken: string, version = 1, role = "writer") {
  const documentJson = json(article({ id, text }));
  const request = { tenantId, documentId: id, expectedVersion: BigInt(version), documentJson, requestToken };
  return client.updateDocument(request, as(role));
}

/**
 * Creates a document in state draft that was submitted with token s1 and returned with token r1.
 */
async function createReturned(): Promise<string> {
  const id = await service.create(tenantId, article());
  await take(service.documents, id, "submit", "s1");
  await take(service.documents, id, "return", "r1");
  return id;
}

const rows = (name: string, documentId: string) => service.db.collection(name).countDocuments({ tenantId, documentId });

describe("a transition", () => {
  test("repeated with its token gets its first answer, at another process and after a later transition", async () => {
    const id = await service.create(tenantId, article());
    const first = await take(service.documents, id, "publish", "p1");
    expect(await take(replica.client, id, "publish", "p1")).toEqual(first);
    await take(replica.client, id, "withhold", "w1");
    expect(await take(replica.client, id, "publish", "p1")).toEqual(first);
    expect(await rows("snapshots", id)).toBe(2);
    expect(await rows("history", id)).toBe(2);
  });

  test("repeated with its token is not taken again, though the document is back in its first state", async () => {
    const id = await createReturned();
    expect(await take(service.documents, id, "submit", "s1")).toMatchObject({ status: "review" });
    const { document } = await service.documents.getDocument({ tenantId, documentId: id });
    expect(document?.status).toBe("draft");
    expect(await take(service.documents, id, "submit", "s2")).toMatchObject({ status: "review" });
  });

  test("in a batch does not hinder its neighbours when it is a repetition", async () => {
    const done = await createReturned();
    const fresh = await Promise.all([1, 2].map(() => service.create(tenantId, article())));
    const transitions = [done, ...fresh].map((documentId) => {
      return { documentId, name: "submit", expectedVersion: 1n, requestToken: "s1" };
    });
    const { results } = await service.documents.batchTransitionDocuments({ tenantId, transitions }, as("admin"));
    expect(results.map(({ outcome }) => outcome.case)).toEqual(Array(3).fill("transitioned"));
    for (const [id, count] of [[done, 2], ...fresh.map((id) => [id, 1])] as [string, number][]) {
      expect(await rows("history", id)).toBe(count);
    }
  });

  test.each([
    ["alone", 0],
    ["beside an answered repetition", 1],
  ])("repeated by a role that may not take it is refused, %s", async (_, neighbours) => {
    const published = await service.create(tenantId, article());
    await take(service.documents, published, "publish", "p1");
    const repeated = { documentId: published, name: "publish", expectedVersion: 1n, requestToken: "p1" };
    const others = await Promise.all(
      Array.from({ length: neighbours }, async () => {
        return { documentId: await createReturned(), name: "submit", expectedVersion: 1n, requestToken: "s1" };
      }),
    );
    const batch = { tenantId, transitions: [repeated, ...others] };
    const { results } = await service.documents.batchTransitionDocuments(batch, as("writer"));
    const [first, ...rest] = results.map(({ outcome }) => outcome);
    expect(first).toMatchObject({ case: "error", value: { reason: "role_not_allowed" } });
    expect(rest).toMatchObject(others.map(() => ({ case: "transitioned" })));
  });

  test("of eight callers with one token at two processes happens once, and all get its answer", async () => {
    const id = await service.create(tenantId, article());
    const clients = Array.from({ length: 8 }, (_, index) => (index % 2 ? replica.client : service.documents));
    const answers = await Promise.all(clients.map((client) => take(client, id, "publish", "once")));
    expect(new Set(answers.map(({ sequence, version }) => `${version} ${sequence}`))).toEqual(new Set(["1 1"]));
    expect(await rows("snapshots", id)).toBe(1);
  });

  test("that was refused is tried again when it is repeated with its token", async () => {
    const id = await service.create(tenantId, article());
    expect(await failure(take(service.documents, id, "approve", "a1"))).toMatchObject({ reason: "wrong_state" });
    await take(service.documents, id, "submit", "s1");
    expect(await take(service.documents, id, "approve", "a1")).toMatchObject({ status: "approved" });
  });

  const costOf = (id: string, token = "s1") => commands.during(() => take(service.documents, id, "submit", token));

  test("costs no extra command for its token", async () => {
    const id = await service.create(tenantId, article());
    const cost = await costOf(id);
    expect(cost).toEqual(["find heads", "update heads", "insert history", "commitTransaction"]);
    expect(await costOf(await service.create(tenantId, article()), "")).toEqual(cost);
  });

  test("repeated with its token costs two finds and a rollback", async () => {
    const id = await service.create(tenantId, article());
    await costOf(id);
    expect(await costOf(id)).toEqual(["find heads", "find history", "abortTransaction"]);
  });
});

describe("an update", () => {
  test("repeated with its token gets its first answer, at another process and after later changes", async () => {
    const id = await service.create(tenantId, article());
    await take(service.documents, id, "publish", "p1");
    const first = await update(service.documents, id, "Two.", "u1");
    expect(await update(replica.client, id, "Two.", "u1")).toEqual(first);
    await take(service.documents, id, "withhold", "w1");
    await update(service.documents, id, "Three.", "u2", 2);
    await take(service.documents, id, "submit", "s1", 3);
    expect(await update(replica.client, id, "Two.", "u1")).toEqual(first);
    expect(first.document).toMatchObject({ version: 2n, status: "draft", lastPublished: { status: "usable" } });
    expect(await rows("versions", id)).toBe(2);
  });

  test.each([
    ["legal", "role_not_allowed"],
    ["stranger", "unknown_role"],
  ])("repeated with its token by %s, who may edit in no state, is refused", async (role, reason) => {
    const id = await service.create(tenantId, article());
    await update(service.documents, id, "Two.", "u1");
    expect(await failure(update(service.documents, id, "Two.", "u1", 1, role))).toMatchObject({ reason });
  });

  const costOf = (id: string, token = "u1") => commands.during(() => update(service.documents, id, "Two.", token));

  test("costs no extra command for its token", async () => {
    const id = await service.create(tenantId, article());
    const written = ["update heads", "insert versions", "insert history", "commitTransaction"];
    const cost = await costOf(id);
    expect(cost).toEqual(["find heads", "find heads", ...written]);
    expect(await costOf(await service.create(tenantId, article()), "")).toEqual(cost);
  });

  test("repeated with its token costs four finds", async () => {
    const id = await service.create(tenantId, article());
    await costOf(id);
    expect(await costOf(id)).toEqual(["find heads", "find history", "find heads", "find heads"]);
  });
});

test("another request for the same document with the same token is refused as request_token_reused", async () => {
  const id = await service.create(tenantId, article());
  await update(service.documents, id, "Two.", "t");
  const reused = { code: "InvalidArgument", reason: "request_token_reused" };
  expect(await failure(update(service.documents, id, "Other.", "t"))).toMatchObject(reused);
  expect(await failure(update(service.documents, id, "Other.", "t", 2))).toMatchObject(reused);
  expect(await failure(take(service.documents, id, "submit", "t", 2))).toMatchObject(reused);
  await take(service.documents, id, "submit", "s", 2);
  expect(await failure(take(service.documents, id, "approve", "s", 2))).toMatchObject(reused);
  expect(await failure(update(service.documents, id, "Three.", "s", 2))).toMatchObject(reused);
});

test("a token of more than 64 characters is refused", async () => {
  const id = await service.create(tenantId, article());
  const long = { code: "InvalidArgument", message: expect.stringContaining("64") };
  expect(await failure(take(service.documents, id, "submit", "x".repeat(65)))).toMatchObject(long);
  expect(await failure(update(service.documents, id, "Two.", "x".repeat(65)))).toMatchObject(long);
});

test("transitions of two documents may have the same token", async () => {
  const ids = await Promise.all([1, 2].map(() => service.create(tenantId, article())));
  using raw = openRpcClient(DocumentService, { target: service.target });
  for (const id of ids) expect(await take(raw, id, "submit", "same")).toMatchObject({ status: "review" });
});
