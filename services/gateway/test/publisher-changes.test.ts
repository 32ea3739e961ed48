import type { ListPublishedChangesRequest } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FakePublisher } from "./support/fake-publisher.ts";
import { serve } from "./support/fake-documents.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

const publisher = new FakePublisher();
let gateway: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;
let key: string;

beforeAll(async () => {
  rpc = await serve([publisher.route()]);
  gateway = await openGateway({ documentsTarget: `127.0.0.1:${rpc.port}` });
  key = await newKey(gateway.access, "acme");
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
});

const nothing = { itemsJson: Buffer.from("[]"), since: "t0", hasMore: false };
const something = { itemsJson: Buffer.from('[{"n":1.50}]'), since: 't"1', hasMore: true };

beforeEach(() => {
  publisher.asked.length = 0;
  publisher.changes = async () => nothing;
});

/** What the gateway asked for, in order. */
const asked = () => publisher.asked as ListPublishedChangesRequest[];

const poll = (query: string, init: RequestInit = {}, of = gateway) =>
  fetch(`${of.url}/v1/publisher/changes${query}`, { headers: bearer(key), ...init });

/**
 * Lets documents hold every call with a wait. `came` resolves when one has come, and `end` answers
 * all of them.
 */
function holdWaits() {
  const came = Promise.withResolvers<AbortSignal>();
  const end = Promise.withResolvers<typeof nothing>();
  publisher.changes = async ({ waitMs }, { signal }) => {
    if (waitMs === 0) return nothing;
    came.resolve(signal);
    return end.promise;
  };
  return { came: came.promise, end: end.resolve };
}

describe("200", () => {
  test("changes are answered byte for byte as documents sends them", async () => {
    publisher.changes = async () => something;
    const response = await poll("?since=t0");
    expect(await response.text()).toBe(
      String.raw`{"ok":true,"data":{"items":[{"n":1.50}],"since":"t\"1","hasMore":true}}`,
    );
  });

  test("when there are changes already, a poll with a wait makes no call that waits", async () => {
    publisher.changes = async () => something;
    expect((await poll("?since=t0&type=core/image&limit=2&wait=20")).status).toBe(200);
    expect(asked()).toMatchObject([{ tenantId: "acme", since: "t0", type: "core/image", limit: 2, waitMs: 0 }]);
  });

  test("a poll without parameters asks for the first 50 changes of all types, without a wait", async () => {
    expect(await (await poll("")).text()).toBe('{"ok":true,"data":{"items":[],"since":"t0","hasMore":false}}');
    expect(asked()).toMatchObject([{ since: "", type: "", limit: 50, waitMs: 0 }]);
  });

  test("when there is no change yet, a second call waits at documents, from the token of the first", async () => {
    publisher.changes = async ({ waitMs }) => (waitMs === 0 ? nothing : something);
    const response = await poll("?wait=20&limit=7&type=core/tag");
    expect(await response.text()).toContain('"items":[{"n":1.50}]');
    expect(asked()).toMatchObject([
      { since: "", waitMs: 0 },
      { since: "t0", type: "core/tag", limit: 7, waitMs: 20_000 },
    ]);
  });

  test("a call that waits 20 s at documents has a deadline of more than 25 s", async () => {
    const left: (number | undefined)[] = [];
    publisher.changes = async ({ waitMs }, context) => {
      left.push(context.timeoutMs());
      return waitMs === 0 ? nothing : something;
    };
    expect((await poll("?wait=20")).status).toBe(200);
    expect(left[1]).toBeGreaterThan(25_000);
  });

  test("a wait without a change ends with an empty answer", async () => {
    const response = await poll("?since=t0&wait=1");
    expect((await response.json()) as unknown).toEqual({ ok: true, data: { items: [], since: "t0", hasMore: false } });
  });
});

describe("304", () => {
  test("a wait without a change ends with 304 for a client that names the tag of the empty answer", async () => {
    const headers = { ...bearer(key), "if-none-match": (await poll("?since=t0&wait=1")).headers.get("etag") ?? "" };
    expect((await poll("?since=t0&wait=1", { headers })).status).toBe(304);
    publisher.changes = async () => something;
    expect((await poll("?since=t0&wait=1", { headers })).status).toBe(200);
  });
});

describe("400", () => {
  test("a token that documents refuses is INVALID_QUERY", async () => {
    publisher.changes = async () => {
      throw new DomainError("invalid", "since must be a token that an earlier answer gave");
    };
    const response = await poll("?since=x&wait=20");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "INVALID_QUERY", message: expect.stringContaining("since") },
    });
  });
});

describe("503", () => {
  test("when documents becomes unavailable during the wait, the answer is UNAVAILABLE", async () => {
    publisher.changes = async ({ waitMs }) => {
      if (waitMs > 0) throw new DomainError("unavailable", "the database cannot be reached");
      return nothing;
    };
    const response = await poll("?wait=20");
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: "UNAVAILABLE" } });
  });
});

describe("a poll that waits", () => {
  test("is cancelled at documents when the client goes away", async () => {
    const { came } = holdWaits();
    const client = new AbortController();
    const answer = poll("?wait=20", { signal: client.signal }).catch((error: unknown) => error);
    const signal = await came;
    expect(signal.aborted).toBe(false);
    const cancelled = new Promise((resolve) => signal.addEventListener("abort", resolve));
    client.abort();
    await cancelled;
    expect(await answer).toMatchObject({ name: "AbortError" });
  });

  test("has a measured duration without the time of its wait", async () => {
    const before = await handled();
    const { came, end } = holdWaits();
    const answer = poll("?wait=20");
    await came;
    const waitMs = 1_500;
    await new Promise((resolve) => {
      setTimeout(resolve, waitMs);
    });
    end(nothing);
    expect((await answer).status).toBe(200);
    await expect.poll(async () => (await handled()).count, patient).toBe(before.count + 1);
    expect((await handled()).seconds - before.seconds).toBeLessThan(waitMs / 2_000);
  });

  test("whose client leaves during the wait has a measured duration without the time of the wait", async () => {
    const before = await handled();
    const { came, end } = holdWaits();
    const client = new AbortController();
    const answer = poll("?wait=20", { signal: client.signal }).catch(() => "gone");
    await came;
    const waitMs = 1_500;
    await new Promise((resolve) => {
      setTimeout(resolve, waitMs);
    });
    client.abort();
    expect(await answer).toBe("gone");
    await expect.poll(async () => (await handled()).count, patient).toBe(before.count + 1);
    expect((await handled()).seconds - before.seconds).toBeLessThan(waitMs / 2_000);
    end(nothing);
  });

  test("is answered within 5 s, with the token to go on from, when the gateway stops", async () => {
    const stopping = await openGateway({ documentsTarget: `127.0.0.1:${rpc.port}` });
    const own = await newKey(stopping.access, "acme");
    const { came } = holdWaits();
    const answer = poll("?wait=20", { headers: bearer(own) }, stopping);
    const signal = await came;
    const from = performance.now();
    await stopping[Symbol.asyncDispose]();
    // The drain would cut the poll off after 10 s, and its wait would end after 20 s.
    expect(performance.now() - from).toBeLessThan(5_000);
    expect(signal.aborted).toBe(true);
    expect(await (await answer).json()).toEqual({ ok: true, data: { items: [], since: "t0", hasMore: false } });
  });
});

/** How many polls the gateway handled, and for how many seconds together. */
async function handled() {
  const text = await (await fetch(`${gateway.ops}/metrics`)).text();
  const total = (name: string) => {
    const lines = text.split("\n").filter((line) => line.startsWith(name) && line.includes("/v1/publisher/changes"));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };
  return { count: total("vidimus_http_handled_seconds_count"), seconds: total("vidimus_http_handled_seconds_sum") };
}
