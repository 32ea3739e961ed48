/** Sections 5 and 2.4: keys, scopes and tenants, for every /v1 operation of the gateway. */
import { MongoClient } from "mongodb";
import { hash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { type Page, refusal, success } from "../support/answers.ts";
import { openDictionary, type PhraseJson, phrasesOf } from "../support/dictionary.ts";
import { forgedKey, prefixOf } from "../support/forged-key.ts";
import { article, as, type Newsroom } from "../support/newsroom.ts";
import { callOperation, exampleBody, type Operation, v1Operations } from "../support/operations.ts";
import { stored, storedIds } from "../support/stored.ts";
import { asAdmin, everyScope, openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

/** A text in all that `fillRoom` gives the tenant `room`, which no other tenant may see. */
const mark = `mark-${randomUUID()}`;
/** From the reason to the key: keys that are invalid. */
const dead = new Map<string, string>();
const keyOf = new Map<string, string>();
let stack: SharedConstellation;
let tenants: Tenants;
let room: Newsroom;
let rival: Newsroom;
/** Ids of content of `room`, and a cursor of its list. */
let owned: { documentId: string; draftId: string; phrase: PhraseJson; endpointId: string; cursor: string };

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  [room, rival] = [await tenants.create(), await tenants.create()];
  for (const scope of everyScope) keyOf.set(scope, (await tenants.issue(room.tenantId, [scope])).key);
  await issueDeadKeys();
  owned = await fillRoom();
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

async function issueDeadKeys(): Promise<void> {
  const { access } = tenants;
  const { tenantId } = room;
  const expired = await tenants.issue(tenantId, everyScope, new Date(Date.now() + 400));
  const revoked = await tenants.issue(tenantId);
  await success(getArticles(revoked.key), 200);
  await access.revokeApiKey({ tenantId, keyId: revoked.keyId }, asAdmin);
  const rolled = await tenants.issue(tenantId);
  await access.rollApiKey({ tenantId, keyId: rolled.keyId }, asAdmin);
  const disabled = await tenants.create();
  await success(getArticles(disabled.apiKey), 200);
  await access.disableTenant({ tenantId: disabled.tenantId }, asAdmin);
  dead.set("revoked", revoked.key);
  dead.set("rolled without overlap", rolled.key);
  dead.set("of a disabled tenant", disabled.apiKey);
  dead.set("with another secret behind a right prefix and a right checksum", forgedKey(prefixOf(room.apiKey)));
  dead.set("that was never issued", forgedKey());
  dead.set(
    "with a wrong checksum",
    room.apiKey.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
  );
  dead.set(
    "with one character of the secret changed",
    room.apiKey.replace(/(?<=_.{12}_)./, (at) => (at === "a" ? "b" : "a")),
  );
  await vi.waitFor(async () => expect((await getArticles(expired.key)).status).toBe(401), { timeout: 5_000 });
  dead.set("expired", expired.key);
}

async function fillRoom() {
  const documentId = await room.push({ title: mark, content: { blocks: [{ type: "b" }], text: mark } });
  await room.transition(documentId, "publish");
  await room.transition(await room.push({ title: mark }), "publish");
  const draftId = await room.push({ title: mark });
  const phrase = await openDictionary(stack.dev.gateway, room.apiKey).put({ language: "en", phrase: mark });
  const { nextCursor } = await success<Page>(room.request("/v1/documents?type=core/article&limit=1"), 200);
  return { documentId, draftId, phrase, endpointId: await endpointOf(room, mark), cursor: nextCursor };
}

/** Registers an endpoint at which nobody listens. */
async function endpointOf({ tenantId, endpoints }: Newsroom, path = ""): Promise<string> {
  const { endpoint } = await endpoints.createEndpoint({ tenantId, url: `http://127.0.0.1:9/${path}` }, as("admin"));
  return endpoint?.endpointId ?? "";
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const getArticles = (key: string) =>
  fetch(`${stack.dev.gateway}/v1/documents?type=core/article`, { headers: bearer(key) });
const call = (operation: Operation, variation = {}) => callOperation(stack.dev.gateway, operation, variation);

/** Malformed Authorization headers, nearly all made from a valid key. */
const malformed = (key: string) => [
  undefined,
  "",
  "Bearer",
  "Bearer ",
  `Basic ${key}`,
  key,
  `Bearer ${key} ${key}`,
  `Bearer ${key}, Bearer ${key}`,
  `Bearer ${key}x`,
  `Bearer "${key}"`,
  `Bearer ${key.slice(0, -1)}`,
  `Bearer vk_${prefixOf(key)}`,
  `Bearer ${key.repeat(50)}`,
  "Bearer vk_x_y",
];

describe.each(v1Operations)("5: $method $url", (operation) => {
  test("rule 4: a missing or malformed Authorization header is 401, before the body is parsed", async () => {
    for (const authorization of malformed(room.apiKey)) {
      const answer = await call(operation, { body: "{", ...(authorization === undefined ? {} : { authorization }) });
      expect([authorization, answer.status]).toEqual([authorization, 401]);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      await refusal(answer, 401, "UNAUTHORIZED");
    }
  });

  test("rule 4: invalid keys of eight kinds get the same 401, with the same body and names of headers", async () => {
    const shape = async (answer: Promise<Response>) => {
      const { status, headers } = await answer;
      const names = Array.from(headers.keys(), (name) => name.toLowerCase());
      return { status, names, challenge: headers.get("www-authenticate"), text: await (await answer).text() };
    };
    const { text: missing, ...unauthorized } = await shape(call(operation));
    expect(unauthorized.status).toBe(401);
    expect(missing).toContain("header is missing");
    const text = missing.replace(/"message":"[^"]*"/, '"message":"the API key is not valid"');
    expect(dead.size).toBe(8);
    for (const [reason, key] of dead) {
      expect([reason, await shape(call(operation, bearer(key)))]).toEqual([reason, { ...unauthorized, text }]);
    }
  });

  test("rule 4: without the operation's scope, a key gets 403, naming the scope, before the body is parsed", async () => {
    expect(everyScope).toContain(operation.scope);
    for (const [scope, key] of keyOf) {
      if (scope === operation.scope) {
        const answer = await call(operation, bearer(key));
        expect([200, 201, 404, 410]).toContain(answer.status);
        await answer.arrayBuffer();
      } else {
        const answer = call(operation, { ...bearer(key), body: "{" });
        expect((await refusal(answer, 403, "FORBIDDEN")).message).toContain(operation.scope);
      }
    }
  });

  test("rule 2: another tenant's key finds and changes nothing by this tenant's ids or cursor", async () => {
    const before = await stateOfRoom();
    for (const pathValue of [owned.documentId, owned.draftId, owned.phrase.id, owned.endpointId]) {
      const answer = await call(operation, { ...bearer(rival.apiKey), pathValue });
      const text = await answer.text();
      if (operation.url.includes(":")) expect(answer.status).toBe(404);
      expect(text).not.toContain(mark);
    }
    if (operation.method === "GET") {
      const answer = await call(operation, { ...bearer(rival.apiKey), query: { cursor: owned.cursor } });
      expect(await answer.text()).not.toContain(mark);
    }
    expect(await stateOfRoom()).toEqual(before);
  });

  test("rule 2: a tenant in the query is refused with INVALID_QUERY, which names the parameter", async () => {
    for (const name of ["tenant", "tenantId", "tenant_id"]) {
      const answer = call(operation, { ...bearer(rival.apiKey), query: { [name]: room.tenantId } });
      expect((await refusal(answer, 400, "INVALID_QUERY")).message).toContain(`"${name}"`);
    }
  });
});

const takingJson = v1Operations.filter(({ body }) => body?.type === "application/json");

describe.each(takingJson)("5 rule 2: $method $url", (operation) => {
  test.each(["tenant", "tenantId", "tenant_id"])(
    "%s in the body is ignored, and the named tenant's phrases, endpoints and number of documents stay",
    async (name) => {
      const before = await stateOfRoom();
      const body = exampleBody(operation, { [name]: room.tenantId });
      // Only endpoints have operations with an id and a JSON body.
      const pathValue = await endpointOf(rival);
      const answer = await call(operation, { ...bearer(rival.apiKey), pathValue, body });
      expect(`${answer.status} ${await answer.text()}`).toMatch(/^20[012] /);
      expect(await stateOfRoom()).toEqual(before);
    },
  );
});

/**
 * The phrases, the endpoints, one document and the number of documents of `room`, to compare before
 * and after.
 */
async function stateOfRoom() {
  const phrases = await phrasesOf(openDictionary(stack.dev.gateway, room.apiKey).get());
  const { document } = await stored(room, owned.documentId);
  // All documents are counted, because those that tests push with the tenant's own keys have no
  // mark.
  const ids = (await storedIds(room)).length;
  const { endpoints } = await room.endpoints.listEndpoints({ tenantId: room.tenantId }, as("admin"));
  return { phrases, document, ids, endpoints };
}

describe("5 rule 2: tenants side by side", () => {
  test("two tenants may have documents of the same id, and each reads only its own", async () => {
    const id = randomUUID();
    for (const [owner, title] of [
      [room, "Ours"],
      [rival, "Theirs"],
    ] as const) {
      await owner.push({ ...article(), id, title });
      await owner.transition(id, "publish");
    }
    const titleFor = async (owner: Newsroom) => {
      const { items } = await success<Page>(owner.request("/v1/documents?type=core/article&limit=200"), 200);
      return items.filter((item) => item.id === id).map(({ title }) => title);
    };
    expect(await titleFor(room)).toEqual(["Ours"]);
    expect(await titleFor(rival)).toEqual(["Theirs"]);
    await room.transition(id, "withhold");
    expect(await titleFor(room)).toEqual([]);
    expect(await titleFor(rival)).toEqual(["Theirs"]);
  });

  test("two tenants may have phrases of the same id, and a delete by one tenant leaves the other's phrase", async () => {
    const [ours, theirs] = [room, rival].map((owner) => openDictionary(stack.dev.gateway, owner.apiKey));
    const id = randomUUID();
    await ours!.put({ id, language: "nb", phrase: "vår" });
    await theirs!.put({ id, language: "nb", phrase: "deras" });
    expect((await theirs!.delete(id)).status).toBe(200);
    expect((await phrasesOf(ours!.get("?language=nb"))).map(({ phrase }) => phrase)).toEqual(["vår"]);
    expect((await theirs!.delete(id)).status).toBe(404);
  });

  test("a tenant named in a phrase import, in JSON or CSV, is ignored", async () => {
    const dictionary = openDictionary(stack.dev.gateway, rival.apiKey);
    const before = await stateOfRoom();
    const claim = { tenant: room.tenantId, tenantId: room.tenantId, tenant_id: room.tenantId };
    const rows = [{ language: "nl", phrase: "een", ...claim }];
    const bodies = [JSON.stringify({ phrases: rows, ...claim }), JSON.stringify(rows)];
    for (const body of bodies) expect((await dictionary.import(body, "application/json")).status).toBe(200);
    const csv = `language,phrase,tenant,tenantId,tenant_id\r\nnl,twee,${Object.values(claim).join(",")}`;
    expect((await dictionary.import(csv)).status).toBe(200);
    expect((await phrasesOf(dictionary.get("?language=nl"))).map(({ phrase }) => phrase)).toEqual(["een", "twee"]);
    expect(await stateOfRoom()).toEqual(before);
  });

  test("a tenant in a header is ignored", async () => {
    const headers = {
      ...bearer(rival.apiKey),
      "x-tenant-id": room.tenantId,
      tenant: room.tenantId,
      "vidimus-tenant": room.tenantId,
    };
    const answer = await fetch(`${stack.dev.gateway}/v1/documents?type=core/article`, { headers });
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toContain(mark);
  });
});

describe("5 rules 1, 3 and 7: keys", () => {
  test("2.4: keys are vk_<prefix>_<secret>, each of five with a prefix of its own", async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => tenants.issue(room.tenantId)));
    for (const { key } of keys) expect(key).toMatch(/^vk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
    expect(new Set(keys.map(({ key }) => prefixOf(key))).size).toBe(5);
  });

  test("the scheme Bearer may be written in lower or upper case", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const headers = { authorization: `${scheme} ${room.apiKey}` };
      await success(fetch(`${stack.dev.gateway}/v1/documents?type=core/article`, { headers }), 200);
    }
  });

  test("only owners and admins make keys", async () => {
    const request = { tenantId: room.tenantId, name: "x", scopes: ["publisher:read"] };
    for (const role of ["editor", "integrator", "writer", "chief", "legal", "system", ""]) {
      await expect(tenants.access.createApiKey(request, as(role))).rejects.toThrow(/permission_denied/);
    }
    for (const role of ["owner", "admin"]) {
      await expect(tenants.access.createApiKey(request, as(role))).resolves.toBeDefined();
    }
  });

  test("a key's secret is in neither the list of keys nor the key's row, which has a hash of the key", async () => {
    const { key } = await tenants.issue(room.tenantId);
    const { apiKeys } = await tenants.access.listApiKeys({ tenantId: room.tenantId }, asAdmin);
    const secret = key.slice(`vk_${prefixOf(key)}_`.length);
    expect(
      JSON.stringify(apiKeys, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
    ).not.toContain(secret);
    const rows = await rowsNaming(prefixOf(key));
    expect(rows).toHaveLength(1);
    expect(rows[0]).not.toContain(secret);
    expect(rows[0]).not.toContain(Buffer.from(key).toString("base64").slice(4, 40));
    expect(rows[0]).toContain(hash("sha256", key, "base64"));
  });

  test("a key has a scope from the moment it is granted until the moment it is taken away", async () => {
    const { key, keyId } = await tenants.issue(room.tenantId, ["publisher:read"]);
    const statuses = async () => {
      const phrases = await fetch(`${stack.dev.gateway}/v1/phrases`, { headers: bearer(key) });
      return [(await getArticles(key)).status, phrases.status];
    };
    expect(await statuses()).toEqual([200, 403]);
    const { tenantId } = room;
    await tenants.access.updateApiKeyScopes({ tenantId, keyId, scopes: ["publisher:read", "phrases:read"] }, asAdmin);
    expect(await statuses()).toEqual([200, 200]);
    await tenants.access.updateApiKeyScopes({ tenantId, keyId, scopes: ["phrases:read"] }, asAdmin);
    expect(await statuses()).toEqual([403, 200]);
  });

  test("a key with an unknown scope cannot be made, even if its other scope is valid", async () => {
    for (const scope of ["admin", "*", "documents:*", "documents:read", "", "publisher:read "]) {
      const request = { tenantId: room.tenantId, name: "x", scopes: ["publisher:read", scope] };
      await expect(tenants.access.createApiKey(request, asAdmin)).rejects.toThrow(/invalid_argument/);
    }
  });

  test("a key rolled with overlap still works, as does the new key, which has the same scopes", async () => {
    const old = await tenants.issue(room.tenantId, ["publisher:read"]);
    const { apiKey, secret } = await tenants.access.rollApiKey(
      { tenantId: room.tenantId, keyId: old.keyId, overlap: { seconds: 3600n, nanos: 0 } },
      asAdmin,
    );
    expect(apiKey?.scopes).toEqual(["publisher:read"]);
    for (const key of [old.key, secret]) await success(getArticles(key), 200);
    const phrases = fetch(`${stack.dev.gateway}/v1/phrases`, { headers: bearer(secret) });
    await refusal(phrases, 403, "FORBIDDEN");
  });

  test("rule 6: GET /api/keys needs no key", async () => {
    expect((await fetch(`${stack.dev.gateway}/api/keys`)).status).toBe(200);
  });
});

/** Rows of the access databases on this server that name a key's prefix, as text. */
async function rowsNaming(prefix: string): Promise<string[]> {
  const client = await MongoClient.connect(inject("mongoUrl"));
  try {
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
    const rows: string[] = [];
    for (const { name } of databases.filter((database) => database.name.endsWith("_access"))) {
      for (const { name: collection } of await client.db(name).listCollections().toArray()) {
        const found = await client.db(name).collection(collection).find({}).toArray();
        rows.push(...found.map((row) => JSON.stringify(row)).filter((text) => text.includes(prefix)));
      }
    }
    return rows;
  } finally {
    await client.close();
  }
}
