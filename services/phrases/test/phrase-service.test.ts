import { Code, ConnectError } from "@connectrpc/connect";
import { PhraseFormat, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import type { RunningTeamsService } from "@vidimus/kit/service/service";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { startPhrases } from "../src/phrases.ts";

const { JSON: json, CSV: csv } = PhraseFormat;
const database = testDatabaseName("phrases");
let replicas: RunningTeamsService[];
let client: RpcClient<typeof PhraseService>;
/** Calls a second replica with the same database. */
let other: RpcClient<typeof PhraseService>;

beforeAll(async () => {
  const env = { MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database, LOG_LEVEL: "silent" };
  const start = () =>
    startPhrases(readConfig({ ...env, ACCESS_TARGET: "off", GRPC_PORT: "0", MESH_PORT: "0", OPS_PORT: "0" }));
  replicas = [await start(), await start()];
  const open = (replica: RunningTeamsService) =>
    openRpcClient(PhraseService, { target: `127.0.0.1:${replica.grpcPort}`, defaultTimeoutMs: 20_000 });
  [client, other] = replicas.map(open) as [typeof client, typeof client];
});

afterAll(async () => {
  client[Symbol.dispose]();
  other[Symbol.dispose]();
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
});

let tenants = 0;
const freshTenant = () => `tenant${(tenants += 1)}`;
const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

interface PhraseJson {
  id: string;
  language: string;
  phrase: string;
  description: string;
  createdAt: string;
  updatedAt: string;
}

async function put(tenantId: string, phrase: object, through = client): Promise<PhraseJson> {
  const { phraseJson } = await through.upsertPhrase({ tenantId, phraseJson: bytes(phrase) });
  return JSON.parse(Buffer.from(phraseJson).toString()) as PhraseJson;
}

async function list(tenantId: string, format: PhraseFormat = json, language = ""): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const { content } of client.listPhrases({ tenantId, format, language })) pieces.push(content);
  return Buffer.concat(pieces).toString();
}

const listed = async (tenantId: string, language = "") =>
  JSON.parse(await list(tenantId, json, language)) as PhraseJson[];
const revision = async (tenantId: string, through = client) =>
  (await through.getDictionaryRevision({ tenantId })).revision;

async function failureOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => expect.unreachable("the call went through"),
    (reason: unknown) => reason,
  );
  const { kind, violations } = fromConnectError(error)!;
  return { code: Code[ConnectError.from(error).code], kind, violations };
}

test("a phrase that was put is listed, with every member", async () => {
  const tenantId = freshTenant();
  const phrase = await put(tenantId, {
    language: "SV-se",
    phrase: "  Försvarsmakten ",
    commonMistakes: ["Forsvarsmakten"],
  });
  expect(phrase).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    language: "sv-SE",
    phrase: "Försvarsmakten",
    caseSensitive: false,
    forbidden: false,
    commonMistakes: ["Forsvarsmakten"],
    description: "",
    createdAt: phrase.updatedAt,
    updatedAt: expect.stringMatching(/Z$/) as string,
  });
  expect(await listed(tenantId)).toEqual([phrase]);
});

test("case and language distinguish phrases", async () => {
  const tenantId = freshTenant();
  for (const [language, phrase] of [
    ["sv", "Polish"],
    ["sv", "polish"],
    ["en", "polish"],
  ])
    await put(tenantId, { language, phrase });
  expect(await listed(tenantId)).toHaveLength(3);
  expect((await listed(tenantId, "SV")).map(({ phrase }) => phrase)).toEqual(["Polish", "polish"]);
  expect(await listed(tenantId, "sv-SE")).toEqual([]);
});

test("a put with the id of a phrase renames it, which frees its old text", async () => {
  const tenantId = freshTenant();
  const { id, createdAt } = await put(tenantId, { language: "sv", phrase: "Kiew" });
  const renamed = await put(tenantId, { id: id.toUpperCase(), language: "sv", phrase: "Kyiv" });
  expect(renamed).toMatchObject({ id, phrase: "Kyiv", createdAt });
  expect(await put(tenantId, { language: "sv", phrase: "Kiew" })).not.toMatchObject({ id });
});

test("a new phrase keeps the id that it was put with, even if a phrase of another tenant has that id", async () => {
  const id = randomUUID();
  const [one, two] = [freshTenant(), freshTenant()];
  expect(await put(one, { id, language: "sv", phrase: "a" })).toMatchObject({ id });
  expect(await put(two, { id, language: "sv", phrase: "b" })).toMatchObject({ id });
  expect(await listed(one)).toMatchObject([{ id, phrase: "a" }]);
});

test("a put that changes nothing keeps updatedAt and the revision", async () => {
  const tenantId = freshTenant();
  const first = await put(tenantId, { language: "sv", phrase: "a", commonMistakes: ["b"] });
  const before = await revision(tenantId);
  expect(await put(tenantId, { ...first, tenantId: "other" })).toEqual(first);
  expect(await revision(tenantId)).toBe(before);
});

test("a put, an import and a deletion each give a new revision, whichever replica is asked", async () => {
  const tenantId = freshTenant();
  const agreed = async () => {
    const [one, two] = [await revision(tenantId), await revision(tenantId, other)];
    expect(two).toBe(one);
    return one;
  };
  const seen = [await agreed()];
  const { id } = await put(tenantId, { language: "sv", phrase: "a" });
  seen.push(await agreed());
  await put(tenantId, { language: "sv", phrase: "a", forbidden: true }, other);
  seen.push(await agreed());
  await client.importPhrases({ tenantId, format: csv, content: bytes("language,phrase\nsv,b\n") });
  seen.push(await agreed());
  await client.deletePhrase({ tenantId, phraseId: id });
  seen.push(await agreed());
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).not.toContain("");
  expect(await revision(freshTenant())).toBe(seen[0]);
});

test("64 concurrent puts of one phrase through two replicas leave one row with one id", async () => {
  const tenantId = freshTenant();
  const phrases = await Promise.all(
    Array.from({ length: 64 }, (_, n) =>
      put(tenantId, { language: "sv", phrase: "ö", description: `${n}` }, n % 2 ? client : other),
    ),
  );
  const [row, ...more] = await listed(tenantId);
  expect(more).toEqual([]);
  expect(new Set(phrases.map(({ id }) => id))).toEqual(new Set([row!.id]));
});

test("concurrent first changes of many tenants through two replicas all succeed", async () => {
  const fresh = Array.from({ length: 20 }, freshTenant);
  await Promise.all(
    fresh.flatMap((tenantId) =>
      [client, other].map((through, n) => put(tenantId, { language: "sv", phrase: `p${n}` }, through)),
    ),
  );
  for (const tenantId of fresh) expect(await listed(tenantId)).toHaveLength(2);
});

const threeRows = bytes({
  phrases: ["a", "b", "a"].map((phrase, n) => ({ language: "sv", phrase, description: `${n}` })),
});

test("an import counts the rows processed, also those that later rows replace", async () => {
  const tenantId = freshTenant();
  const imported = await client.importPhrases({ tenantId, format: json, content: threeRows });
  expect(imported).toMatchObject({ imported: 3 });
  const phrases = await listed(tenantId);
  expect(phrases.map(({ phrase, description }) => phrase + description)).toEqual(["a2", "b1"]);
});

test("an import keeps the ids of its phrases when it is repeated", async () => {
  const tenantId = freshTenant();
  const content = threeRows;
  await client.importPhrases({ tenantId, format: json, content });
  const first = await listed(tenantId);
  expect(first).toHaveLength(2);
  await client.importPhrases({ tenantId, format: json, content });
  expect((await listed(tenantId)).map(({ id }) => id)).toEqual(first.map(({ id }) => id));
});

test("an import of more than 50,000 rows, blank lines included, is refused and writes nothing", async () => {
  const tenantId = freshTenant();
  for (const [format, content] of [
    [csv, `language,phrase\nsv,a${"\n".repeat(50_001)}`],
    [json, `[${'{"language":"sv","phrase":"a"},'.repeat(50_000)}{"language":"sv","phrase":"a"}]`],
  ] as const) {
    expect(await failureOf(client.importPhrases({ tenantId, format, content: bytes(content) }))).toMatchObject({
      kind: "invalid",
    });
  }
  expect(await listed(tenantId)).toEqual([]);
});

test("an import may rename in a chain and reuse texts that it freed", async () => {
  const tenantId = freshTenant();
  const [a, b] = [
    await put(tenantId, { language: "sv", phrase: "a" }),
    await put(tenantId, { language: "sv", phrase: "b" }),
  ];
  const rows = [
    { ...a, phrase: "x" },
    { ...b, phrase: "a" },
    { language: "sv", phrase: "b" },
    { ...a, phrase: "y" },
  ];
  await client.importPhrases({ tenantId, format: json, content: bytes(rows) });
  const after = await listed(tenantId);
  expect(after.map(({ id, phrase }) => [id, phrase])).toEqual([
    [b.id, "a"],
    [expect.any(String), "b"],
    [a.id, "y"],
  ]);
});

test("the refusal of an import has at most 20 violations, which fit into the trailers of the answer", async () => {
  const tenantId = freshTenant();
  const rows = Array.from({ length: 2_000 }, () => ({ language: "ß".repeat(900), phrase: "", ["√".repeat(500)]: 1 }));
  const content = bytes(rows);
  const failure = await failureOf(client.importPhrases({ tenantId, format: json, content }));
  expect(failure.kind).toBe("invalid");
  expect(failure.violations).toHaveLength(20);
  expect(failure.violations[1]).toMatchObject({ pointer: "/0/language" });
});

test("an empty dictionary is an empty array in JSON, and a header in CSV", async () => {
  expect(await list(freshTenant())).toBe("[]");
  expect(await list(freshTenant(), csv)).toBe(
    "id,language,phrase,caseSensitive,forbidden,commonMistakes,description,createdAt,updatedAt\r\n",
  );
});

test("an export of 50,000 phrases as CSV changes nothing when it is imported", async () => {
  const tenantId = freshTenant();
  const rows = Array.from({ length: 50_000 }, (_, n) => ({ language: n % 2 ? "sv" : "en", phrase: `ord ${n}` }));
  await client.importPhrases({ tenantId, format: json, content: bytes(rows) });
  const exported = await list(tenantId, csv);
  expect(exported.split("\r\n")).toHaveLength(50_002);
  const before = await revision(tenantId);
  await client.importPhrases({ tenantId, format: csv, content: bytes(exported) });
  expect(await revision(tenantId)).toBe(before);
  expect(await list(tenantId, csv)).toBe(exported);
});

test.for([
  ["with a malformed tenant id", () => client.getDictionaryRevision({ tenantId: "No such" })],
  ["with a malformed language tag", () => client.getDictionaryRevision({ tenantId: "demo", language: "sv_SE" })],
  ["without a format", () => client.importPhrases({ tenantId: "demo", content: bytes("[]") })],
  ["with malformed JSON", () => client.upsertPhrase({ tenantId: "demo", phraseJson: bytes("{") })],
] as const)("a request %s gets INVALID_ARGUMENT", async ([, call]) => {
  expect(await failureOf(call())).toMatchObject({ code: "InvalidArgument", kind: "invalid" });
});
