import { randomUUID } from "node:crypto";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { occupyIntake } from "./support/occupy-intake.ts";
import { unavailable } from "./support/fake-documents.ts";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { bearer } from "./support/start-gateway.ts";

let edge: Edge;
let gateway: Edge["gateway"];
let documents: Edge["documents"];
let key: string;

beforeAll(async () => {
  edge = await openEdge();
  ({ documents, gateway, key } = edge);
});

afterAll(() => edge[Symbol.asyncDispose]());

beforeEach(() => {
  documents.batches.length = 0;
  documents.beforeAnswer = documents.beforeWork = () => {};
});

const wire = (id: string = randomUUID()) => JSON.stringify({ id, type: "core/newswire", title: "Fire" });

function post(body: string, headers: Record<string, string> = {}) {
  return fetch(`${gateway.url}/v1/documents`, {
    method: "POST",
    headers: { ...bearer(key), "content-type": "application/json", ...headers },
    body,
  });
}

/** How many bodies the gateway has read and passed to intake so far. */
async function requestsSeen(): Promise<number> {
  const text = await (await fetch(`${gateway.ops}/metrics`)).text();
  return Number(/vidimus_intake_items_total\{[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
}

describe("201", () => {
  const odd = () =>
    ` {"title":"\u00e9\\u00e9", "tenant_id":"rival",\n"type":"core/newswire","id":"${randomUUID()}", "n":1.50}`;

  test("the body reaches documents byte for byte", async () => {
    const body = odd();
    expect((await post(body)).status).toBe(201);
    const [item] = documents.batches[0]!.request.items;
    expect(Buffer.from(item!.draft!.documentJson).toString()).toBe(body);
  });

  test("a document is created for the key's tenant, also when the request names another", async () => {
    expect((await post(odd(), { "x-tenant-id": "rival" })).status).toBe(201);
    expect(documents.batches[0]!.request.items).toMatchObject([{ tenantId: "acme" }]);
  });

  test("the call to documents has the id of the request", async () => {
    const response = await post(wire());
    expect(documents.batches[0]!.header.get("x-request-id")).toBe(response.headers.get("x-request-id"));
  });

  test("the call to documents has the key as its actor", async () => {
    await post(wire());
    expect(documents.batches[0]!.header.get("vidimus-actor")).toBe(`key:${key.split("_")[1]}`);
  });

  test("a call whose answer was lost is repeated with the same intake token", async () => {
    documents.beforeAnswer = (call) => {
      if (call <= 2) throw unavailable();
    };
    expect((await post(wire())).status).toBe(201);
    const tokens = documents.batches.map(({ request }) => request.items[0]!.draft!.intakeToken);
    expect(tokens).toHaveLength(3);
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toMatch(/.{8}/);
  });

  test("71 documents that arrive during running calls go out after them in two calls, of 64 and 7", async () => {
    const release = await occupyIntake(documents, () => post(wire()));
    const before = await requestsSeen();
    const others = Array.from({ length: 70 }, () => post(wire()));
    await vi.waitFor(async () => expect((await requestsSeen()) - before).toBe(70), patient);
    await release();
    const statuses = (await Promise.all(others)).map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: 70 }, () => 201));
    // The last document of `occupyIntake` waited, too: 70 and 1.
    expect(documents.batches.map(({ request }) => request.items.length)).toEqual([64, 7]);
  });
});

describe("400", () => {
  test("a body that is no document is INVALID_PAYLOAD with the pointers of the documents service", async () => {
    const response = await post("{");
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      ok: false,
      error: {
        code: "INVALID_PAYLOAD",
        message: "the body is not a document",
        details: [{ pointer: "/id", message: "must be a UUID" }],
      },
    });
  });
});

describe("503", () => {
  test("while documents stays down, the answer is UNAVAILABLE with Retry-After", async () => {
    documents.beforeWork = () => {
      throw unavailable();
    };
    const response = await post(wire());
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await response.json()).toMatchObject({ error: { code: "UNAVAILABLE" } });
    expect(documents.batches).toHaveLength(5);
  });
});

describe("500", () => {
  test("a bug in documents is INTERNAL, without the message of its error", async () => {
    documents.beforeWork = () => {
      throw new Error("mongodb://user:password@host");
    };
    const response = await post(wire());
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ ok: false, error: { code: "INTERNAL", message: "internal error" } });
  });
});
