import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { randomUUID } from "node:crypto";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { occupyIntake } from "./support/occupy-intake.ts";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { bearer } from "./support/start-gateway.ts";

/** A kind that this gateway does not know, as a newer documents service could answer. */
const kind = "quarantined";

let edge: Edge;

beforeAll(async () => {
  edge = await openEdge();
});

afterAll(() => edge[Symbol.asyncDispose]());

beforeEach(() => {
  edge.documents.beforeWork = () => {};
  edge.documents.batches.length = 0;
  edge.documents.refusals.clear();
  edge.documents.listFailure = undefined;
});

async function post(id: string) {
  const response = await fetch(`${edge.gateway.url}/v1/documents`, {
    method: "POST",
    headers: { ...bearer(edge.key), "content-type": "application/json" },
    body: JSON.stringify({ id, type: "core/newswire", title: "Fire" }),
  });
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, error };
}

/**
 * Sends documents so that they go out in one batch: they arrive while no further call may go out.
 */
async function postTogether(ids: readonly string[]) {
  const release = await occupyIntake(edge.documents, () => post(randomUUID()));
  const before = await arrived();
  const rest = ids.map(post);
  await vi.waitFor(async () => expect((await arrived()) - before).toBe(ids.length), patient);
  await release();
  const answers = await Promise.all(rest);
  expect(edge.documents.batches.map(({ request }) => request.items.length)).toEqual([1 + ids.length]);
  return answers;
}

/** How many documents the gateway has read and passed to intake so far. */
async function arrived(): Promise<number> {
  const text = await (await fetch(`${edge.gateway.ops}/metrics`)).text();
  return Number(/vidimus_intake_items_total\{[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
}

describe("an error kind that this gateway does not know", () => {
  test("fails only its own item of a batch, with the public code of its RPC code", async () => {
    const odd = randomUUID();
    edge.documents.refusals.set(odd, { kind, message: "document is in quarantine", code: Code.FailedPrecondition });
    const [first, refused, last] = await postTogether([randomUUID(), odd, randomUUID()]);
    expect([first!.status, last!.status]).toEqual([201, 201]);
    expect(refused).toEqual({ status: 409, error: { code: "CONFLICT", message: "document is in quarantine" } });
  });

  test("without an RPC code fails only its own item of a batch, with INTERNAL", async () => {
    const odd = randomUUID();
    edge.documents.refusals.set(odd, { kind, message: "document is in quarantine", code: 0 });
    const [refused, other] = await postTogether([odd, randomUUID()]);
    expect(other!.status).toBe(201);
    expect(refused).toEqual({ status: 500, error: { code: "INTERNAL", message: "internal error" } });
  });

  test.each([
    ["NotFound", 404, "NOT_FOUND"],
    ["ResourceExhausted", 429, "RATE_LIMITED"],
    ["Unknown", 500, "INTERNAL"],
  ] as const)("of a call that failed with the RPC code %s is answered %i %s", async (code, status, name) => {
    const detail = { desc: ErrorInfoSchema, value: { kind, message: "in quarantine" } };
    edge.documents.listFailure = new ConnectError("in quarantine", Code[code], undefined, [detail]);
    const response = await fetch(`${edge.gateway.url}/v1/documents?type=core/tag`, { headers: bearer(edge.key) });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ ok: false, error: { code: name } });
  });
});
