/**
 * The logs of the five services: request ids and prefixes of keys, and never a key, a secret or a
 * body.
 */
import { type ProcessConstellation, openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { readFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openDictionary } from "../support/dictionary.ts";
import { forgedKey, prefixOf } from "../support/forged-key.ts";
import { findLeaks } from "../support/leaks.ts";
import { article, type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { openTenants } from "../support/tenants.ts";

let stack: ProcessConstellation;
let room: Newsroom;
let receiver: Receiver;
/** From name to text: texts that no log may contain. */
const secrets: Record<string, string> = {};
const requestIds: string[] = [];
const prefixes: string[] = [];

beforeAll(async () => {
  stack = await openProcessConstellation({ LOG_LEVEL: "debug" });
  room = openNewsroom(stack.dev);
  receiver = await openReceiver();
  await useEverything();
});

afterAll(async () => {
  room?.[Symbol.dispose]();
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

/** A unique text, recorded as one that no log may contain. */
function secretText(name: string): string {
  const text = `${name.replaceAll(" ", "-")}-${randomUUID()}`;
  secrets[name] = text;
  return text;
}

function secretKey(name: string, key: string): string {
  secrets[name] = key;
  secrets[`secret half of ${name}`] = key.split("_")[2] ?? "";
  return key;
}

/** A request to the public API, whose request id must be in the logs. */
async function send(path: string, init: RequestInit, expected: number): Promise<void> {
  const answer = await room.request(path, init);
  const text = await answer.text();
  expect(`${path} ${answer.status} ${text}`).toContain(`${path} ${expected} `);
  requestIds.push(answer.headers.get("x-request-id") ?? "no request id");
}

/** Calls with keys, bodies, queries and secrets that no log may contain; some fail. */
async function useEverything(): Promise<void> {
  prefixes.push(prefixOf(secretKey("the tenant's key", room.apiKey)));
  await manageKeys();
  await pushDocuments();
  await publish();
  await useDictionary();
}

async function manageKeys(): Promise<void> {
  using tenants = openTenants(stack.dev);
  const { key, keyId } = await tenants.issue("demo");
  secretKey("a key that is revoked", key);
  prefixes.push(prefixOf(key));
  const authorization = `Bearer ${key}`;
  await send("/v1/documents?type=core/tag", { headers: { authorization } }, 200);
  await tenants.access.revokeApiKey({ tenantId: "demo", keyId }, { headers: { "vidimus-role": "admin" } });
  await send("/v1/documents?type=core/tag", { headers: { authorization } }, 401);
  const guess = secretKey("a key that was guessed", forgedKey(prefixOf(room.apiKey)));
  await send("/v1/documents?type=core/tag", { headers: { authorization: `Bearer ${guess}` } }, 401);
  const basic = `Basic ${secretText("other credentials")}`;
  await send("/v1/documents?type=core/tag", { headers: { authorization: basic } }, 401);
}

async function pushDocuments(): Promise<void> {
  const headers = { "content-type": "application/json" };
  const post = (body: string, expected: number) => send("/v1/documents", { method: "POST", headers, body }, expected);
  const draft = article({ title: secretText("a title"), content: { blocks: [], text: secretText("a content") } });
  await post(JSON.stringify(draft), 201);
  await post(JSON.stringify(draft), 409);
  await post(JSON.stringify(article({ [secretText("an unknown member")]: 1 })), 400);
  await post(JSON.stringify(article({ meta: { newsValue: secretText("a bad value") } })), 400);
  await post(`{"${secretText("a broken body")}`, 400);
  await send(`/v1/documents?type=${secretText("a bad query")}`, {}, 400);
  await send(`/v1/documents?type=core/tag&cursor=${secretText("a cursor")}`, {}, 200);
  await send(`/${room.apiKey}?q=${secretText("a query of a 404")}`, {}, 404);
}

async function publish(): Promise<void> {
  const { tenantId } = room;
  const url = `${receiver.url}?token=${secretText("a token in a receiver's address")}`;
  const headers = { values: { authorization: `Bearer ${secretText("a receiver's credential")}` } };
  const { secret } = await room.endpoints.createEndpoint({ tenantId, url, headers });
  secrets["an endpoint's secret"] = secret.replace("whsec_", "");
  const content = { blocks: [{ type: "b" }], text: secretText("a published content") };
  const id = await room.push({ title: secretText("a published title"), content });
  let attempts = 0;
  receiver.answerWith(() => ((attempts += 1) === 1 ? 500 : 204));
  await room.transition(id, "publish");
  await room.transition(id, "withhold");
  await receiver.about(id, { sequence: 2 });
  const { data } = (await (await room.request(`/v1/webhooks/deliveries?documentId=${id}`)).json()) as {
    data: { items: { id: string }[] };
  };
  expect(data.items).toHaveLength(2);
  for (const delivery of data.items) await send(`/v1/webhooks/deliveries/${delivery.id}?include=request`, {}, 200);
  await send("/v1/documents?type=core/article", {}, 200);
}

async function useDictionary(): Promise<void> {
  const dictionary = openDictionary(stack.dev.gateway, room.apiKey);
  const { id } = await dictionary.put({ language: "en", phrase: secretText("a phrase") });
  const csv = `language,phrase,description\r\nen,x,${secretText("a description")}`;
  await send("/v1/phrases/import", { method: "POST", headers: { "content-type": "text/csv" }, body: csv }, 200);
  const bad = `language,phrase\r\n,${secretText("a phrase without language")}`;
  await send("/v1/phrases/import", { method: "POST", headers: { "content-type": "text/csv" }, body: bad }, 400);
  await send("/v1/phrases?format=csv", {}, 200);
  // More than is answered in one piece.
  const rows = Array.from({ length: 2_000 }, (_, n) => `en,word ${n},${"x".repeat(50)}\n`);
  expect((await dictionary.import(`language,phrase,description\n${rows.join("")}`)).status).toBe(200);
  await send("/v1/phrases?format=csv", {}, 200);
  await send(`/v1/phrases/${id}`, { method: "DELETE" }, 200);
}

const services = ["gateway", "documents", "phrases", "signing", "delivery"];

/**
 * The logs of the five services as one text, without those of mongod, which quote slow statements.
 */
async function readLogs(): Promise<string> {
  const files = services.map((name) => readFile(join(stack.stateDir, "logs", `${name}.log`), "utf8"));
  return (await Promise.all(files)).join("\n");
}

describe("after calls that carry secrets have succeeded and failed,", () => {
  const untilLogged = (texts: readonly string[]) =>
    vi.waitFor(async () => {
      const logs = await readLogs();
      expect(texts.filter((text) => !logs.includes(text))).toEqual([]);
    }, patient);

  test("the logs have the request ids that the answers gave", async () => {
    expect(requestIds.length).toBeGreaterThan(15);
    await untilLogged(requestIds);
  });

  test("the logs have the prefix of every key that was accepted", async () => {
    expect(prefixes).toHaveLength(2);
    await untilLogged(prefixes);
  });

  test("each of the five services names itself in the logs", async () => {
    const logs = await readLogs();
    for (const service of services) expect(logs).toContain(`"service":"${service}"`);
  });

  test("no line of the logs is plain text, such as a warning of Node", async () => {
    const logs = await readLogs();
    expect(logs.split("\n").filter((line) => line !== "" && !line.startsWith("{"))).toEqual([]);
  });

  test("no log of a service contains a key, a secret or a part of a body or query, plain or encoded", async () => {
    expect(Object.keys(secrets).length).toBeGreaterThan(20);
    expect(findLeaks(await readLogs(), secrets)).toEqual([]);
  });

  test("no metric contains a key, a secret or a part of a body or query, plain or encoded", async () => {
    const pages = await Promise.all(
      Object.values(stack.dev.ops).map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    expect(pages.join("")).toContain("vidimus_delivery");
    expect(findLeaks(pages.join("\n"), secrets)).toEqual([]);
  });

  test.each(["kek", "delivery-kek"])(
    "no log of a service contains the key of the file %s, which encrypts secrets in a database",
    async (file) => {
      const kek = await readFile(join(stack.stateDir, file));
      const text = kek.toString("latin1").trim();
      const writings = { bytes: text, base64: kek.toString("base64"), hex: kek.toString("hex") };
      expect(findLeaks(await readLogs(), writings)).toEqual([]);
    },
  );

  test("the search for secrets finds a planted one, plain and in each encoding", async () => {
    const logs = await readLogs();
    for (const [name, secret] of Object.entries(secrets)) {
      const bytes = Buffer.from(secret);
      for (const planted of [secret, bytes.toString("base64"), bytes.toString("hex"), encodeURIComponent(secret)]) {
        expect(findLeaks(`${logs}\n{"msg":"${planted}"}`, secrets)).toContain(name);
      }
    }
    expect(findLeaks('{"msg":"a \\"quoted\\" \\\\ title"}', { title: 'a "quoted" \\ title' })).toEqual(["title"]);
  });
});
