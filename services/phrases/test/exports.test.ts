import { PhraseFormat, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { openTestMongod } from "@vidimus/devstack/testing/test-mongod";
import { openMongo, type Mongo } from "@vidimus/kit/mongo/mongo";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readConfig } from "../src/config.ts";
import { startPhrases } from "../src/phrases.ts";
import { DictionaryState } from "../src/store/dictionary-state.ts";

const tenantId = "demo";
/** More rows than the service sends ahead to a reader that stops reading. */
const rowsCount = 20_000;
const rowsPerImport = 5_000;

const stack = new AsyncDisposableStack();
let mongo: Mongo;
let client: RpcClient<typeof PhraseService>;

// A mongod of its own, because the last test shortens the snapshot history that mongod keeps.
beforeAll(async () => {
  const mongod = stack.use(await openTestMongod());
  const doors = { ACCESS_TARGET: "off", GRPC_PORT: "0", MESH_PORT: "0", OPS_PORT: "0" };
  const service = stack.use(await startPhrases(readConfig({ MONGODB_URL: mongod.url, LOG_LEVEL: "silent", ...doors })));
  mongo = stack.use(await openMongo({ url: mongod.url, database: "vidimus_phrases", appName: "test" }));
  client = stack.use(
    openRpcClient(PhraseService, { target: `127.0.0.1:${service.grpcPort}`, defaultTimeoutMs: 60_000 }),
  );
  for (let first = 0; first < rowsCount; first += rowsPerImport) {
    const rows = Array.from({ length: rowsPerImport }, (_, n) => phraseOf(first + n));
    await client.importPhrases({ tenantId, format: PhraseFormat.JSON, content: bytes(rows) });
  }
});

afterAll(() => stack.disposeAsync());

interface Row {
  id: string;
  phrase: string;
}

const digits = (n: number) => String(n).padStart(12, "0");
const nameOf = (n: number) => `ord ${digits(n)}`;
const phraseOf = (n: number, phrase = nameOf(n)) => ({
  id: `00000000-0000-4000-8000-${digits(n)}`,
  language: "sv",
  phrase,
  description: "x".repeat(1_000),
});
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const put = (phrase: object) => client.upsertPhrase({ tenantId, phraseJson: bytes(phrase) });
const list = () => client.listPhrases({ tenantId, format: PhraseFormat.JSON, language: "" });

/** Begins an export and reads its first part. `rest` reads the other parts and returns all rows. */
async function begin() {
  const parts = list()[Symbol.asyncIterator]();
  const first = await parts.next();
  expect(first.done).toBe(false);
  const read: Uint8Array[] = [first.value!.content];
  const rest = async () => {
    for (let next = await parts.next(); !next.done; next = await parts.next()) read.push(next.value.content);
    return JSON.parse(Buffer.concat(read).toString()) as Row[];
  };
  return { revision: first.value!.revision, rest };
}

test("an export has every phrase once, with its text at the start, even when phrases are renamed", async () => {
  const { rest } = await begin();
  await put(phraseOf(rowsCount - 1, "a, behind the scan"));
  await put(phraseOf(0, "z, ahead of the scan"));
  expect((await rest()).map(({ phrase }) => phrase)).toEqual(Array.from({ length: rowsCount }, (_, n) => nameOf(n)));
});

test("an export that begins between changes has the revision of the dictionary", async () => {
  const { revision } = await client.getDictionaryRevision({ tenantId });
  const { revision: exported, rest } = await begin();
  expect(exported).toBe(revision);
  expect(revision).not.toBe("");
  await rest();
});

test("an export that begins during a change has no revision", async () => {
  const change = new DictionaryState(mongo.db).change(tenantId);
  await change.begin();
  const during = await begin();
  await change.end();
  expect(during.revision).toBe("");
  await during.rest();
});

test("an export that takes longer than mongod keeps its snapshot fails with DEADLINE_EXCEEDED", async () => {
  const admin = mongo.client.db("admin");
  const { operationTime } = await admin.command({ ping: 1 });
  const { rest } = await begin();
  await admin.command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: 0 });
  const readConcern = { level: "snapshot", atClusterTime: operationTime as unknown };
  let writes = 0;
  await vi.waitFor(async () => {
    await put(phraseOf(2, `c${(writes += 1)}`));
    const moment = mongo.db.command({ find: "phrases", limit: 1, readConcern });
    await expect(moment).rejects.toMatchObject({ codeName: "SnapshotTooOld" });
  }, patient);
  const error: unknown = await rest().catch((reason: unknown) => reason);
  expect(fromConnectError(error)).toMatchObject({ kind: "deadline_exceeded" });
});
