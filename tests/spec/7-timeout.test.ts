/**
 * Section 7, TIMEOUT: a query that exceeds its time limit is 504, and DEADLINE_EXCEEDED in RPCs.
 */
import type { BackingServer } from "@vidimus/devstack/backing/server";
import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { openTestMongod } from "@vidimus/devstack/testing/test-mongod";
import { Code } from "@connectrpc/connect";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { refusal, success } from "../support/answers.ts";
import { article, as, type Newsroom, openNewsroom } from "../support/newsroom.ts";

let mongod: BackingServer;
let mongo: MongoClient;
let stack: Constellation;
let room: Newsroom;

beforeAll(async () => {
  mongod = await openTestMongod();
  mongo = await MongoClient.connect(mongod.url);
  stack = await openConstellation({ mongoUrl: mongod.url });
  room = openNewsroom(stack.dev);
});

afterEach(async () => {
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: "off" });
});

afterAll(async () => {
  room?.[Symbol.dispose]();
  await stack?.[Symbol.asyncDispose]();
  await mongo?.close();
  await mongod?.[Symbol.asyncDispose]();
});

/** Makes commands of documents fail with 50, MaxTimeMSExpired. */
async function expire(...failCommands: string[]): Promise<void> {
  const data = { failCommands, errorCode: 50, appName: "vidimus-documents" };
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: "alwaysOn", data });
}

test("a read whose query ran out of time is 504 TIMEOUT, and works again afterwards", async () => {
  const id = await room.push();
  await room.transition(id, "publish");
  const paths = ["/v1/documents?type=core/article", `/v1/publisher/documents/${id}`, "/v1/publisher/changes"];
  await expire("find", "aggregate", "getMore");
  for (const path of paths) await refusal(room.request(path), 504, "TIMEOUT");
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: "off" });
  for (const path of paths) await success(room.request(path), 200);
});

test("a create whose statement ran out of time is 504 TIMEOUT, and its repeat creates the document", async () => {
  const draft = article();
  const push = () =>
    room.request("/v1/documents", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(draft),
    });
  await expire("insert");
  await refusal(push(), 504, "TIMEOUT");
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: "off" });
  expect(await success(push(), 201)).toEqual({ id: draft.id });
});

test("an editor's call whose query ran out of time fails with DEADLINE_EXCEEDED", async () => {
  await expire("find", "aggregate");
  const call = room.documents.getDocument({ tenantId: room.tenantId, documentId: randomUUID() }, as("editor"));
  await expect(call).rejects.toMatchObject({ code: Code.DeadlineExceeded });
});
