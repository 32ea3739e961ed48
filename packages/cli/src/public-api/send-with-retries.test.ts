import { expect, test } from "vitest";
import { type Answer, sendWithRetries } from "./send-with-retries.ts";

const answer = (status: number, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: new Headers(headers),
  body: "",
});
const refused = new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) });
const reset = new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });

/** Sends a request whose attempts end as a script says, in turn, and notes the pauses. */
function scripted(script: readonly (Answer | Error)[], { repeatable = true, maxWaitMs = 120_000 } = {}) {
  const left = [...script];
  const pausesMs: number[] = [];
  const send = async () => {
    const next = left.shift();
    if (next === undefined) throw new Error("one attempt too many");
    if (next instanceof Error) throw next;
    return next;
  };
  const sleep = async (ms: number) => void pausesMs.push(ms);
  return { pausesMs, left, outcome: sendWithRetries(send, { repeatable, maxWaitMs, sleep }) };
}

test("after a 429 even an unrepeatable request is sent again, once the Retry-After has passed", async () => {
  const run = scripted([answer(429, { "retry-after": "7" }), answer(201)], { repeatable: false });
  expect(await run.outcome).toMatchObject({ answer: { status: 201 }, lost: false });
  expect(run.pausesMs).toEqual([7_000]);
});

test("after a 503 a repeatable request is sent again, once the Retry-After has passed", async () => {
  const run = scripted([answer(503, { "retry-after": "1" }), answer(201)]);
  expect(await run.outcome).toMatchObject({ answer: { status: 201 } });
  expect(run.pausesMs).toEqual([1_000]);
});

test("an attempt answered with 503 counts as one that may have been carried out", async () => {
  const run = scripted([answer(503, { "retry-after": "1" }), answer(409)]);
  expect(await run.outcome).toMatchObject({ answer: { status: 409 }, lost: true });
});

test("a Retry-After may be a date", async () => {
  const date = new Date(Date.now() + 60_000).toUTCString();
  const run = scripted([answer(429, { "retry-after": date }), answer(201)]);
  await run.outcome;
  expect(run.pausesMs).toEqual([expect.toSatisfy((ms: number) => ms > 55_000 && ms <= 60_000)]);
});

test("a Retry-After of zero becomes the shortest pause", async () => {
  const run = scripted([answer(429, { "retry-after": "0" }), answer(201)]);
  await run.outcome;
  expect(run.pausesMs).toEqual([250]);
});

test("the last answer is returned when one more pause would exceed the longest total of pauses", async () => {
  const later = answer(429, { "retry-after": "50" });
  const last = answer(429, { "retry-after": "50" });
  const run = scripted([later, later, last]);
  expect((await run.outcome).answer).toBe(last);
  expect(run.pausesMs).toEqual([50_000, 50_000]);
});

test("a refused connection counts as nothing sent: even an unrepeatable request is tried five times more", async () => {
  const run = scripted([refused, refused, refused, refused, refused, refused], { repeatable: false });
  await expect(run.outcome).rejects.toBe(refused);
  expect(run.pausesMs).toEqual([250, 500, 1_000, 2_000, 4_000]);
  expect(await scripted([refused, answer(201)]).outcome).toMatchObject({ lost: false });
});

test("after a broken connection, only a request that may be repeated is sent again", async () => {
  expect(await scripted([reset, answer(409)]).outcome).toMatchObject({ answer: { status: 409 }, lost: true });
  await expect(scripted([reset, answer(201)], { repeatable: false }).outcome).rejects.toBe(reset);
});

test("after a 504, only a request that may be repeated is sent again", async () => {
  expect(await scripted([answer(504), answer(409)]).outcome).toMatchObject({ answer: { status: 409 }, lost: true });
  expect(await scripted([answer(504), answer(201)], { repeatable: false }).outcome).toMatchObject({
    answer: { status: 504 },
  });
});

test.each([400, 401, 403, 404, 409, 413, 500])(
  "an answer %s is final: the request is not sent again",
  async (status) => {
    const run = scripted([answer(status), answer(201)]);
    expect(await run.outcome).toMatchObject({ answer: { status } });
    expect(run.pausesMs).toEqual([]);
  },
);
