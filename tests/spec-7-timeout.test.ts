/**
 * Section 7, TIMEOUT: a query that exceeds its time limit is 504, and DEADLINE_EXCEEDED in RPCs.
 */
import { openMongod } from "@vidimus/devstack/backing/mongod";
import type { BackingServer } from "@vidimus/devstack/backing/server";
import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { Code } from "@connectrpc/connect";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { refusal, success } from "./support/answers.ts";
import { article, as, type Newsroom, openNewsroom } from "./support/newsroom.ts";

let dir: string;
let mongod: BackingServer;
let mongo: MongoClient;
let stack: Constellation;
let room: Newsroom;

beforeAll(async () => {
  // Its own MongoDB, since a server has only one fail point for commands.
  dir = await mkdtemp(join(tmpdir(), "vidimus-timeout-"));
  const [dataDir, logFile] = [join(dir, "mongod"), join(dir, "mongod.log")];
  mongod = await openMongod({ dataDir, logFile, port: 0, failPoints: true });
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
  await rm(dir, { recursive: true, force: true });
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

test("a create whose statement ran out of time is 504 TIMEOUT, and its repeat is safe", async () => {
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
