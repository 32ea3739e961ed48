import { afterAll, beforeAll, expect, test } from "vitest";
import { defineRoute } from "../src/http/route.ts";
import { rawClient, requestHead } from "./support/raw-client.ts";
import { serveRoutes } from "./support/serve-routes.ts";

const requests = 150;
/** Most requests of 1 ms that begin in one turn: 5 in its first 5 ms, and 16 that waited. */
const turnMax = 5 + 16;
let turn = 0;
/** For each request, the turn of the event loop in which it began. */
let begun: number[] = [];

/** Works for 1 ms. */
const workRoute = defineRoute({
  method: "GET",
  url: "/v1/work",
  scope: "phrases:read",
  doc: { operationId: "x", summary: "x", success: { status: 200, description: "x", content: {} } },
  handler: () => async () => {
    begun.push(turn);
    const started = performance.now();
    while (performance.now() - started < 1);
    return { status: 200, headers: {}, body: "" };
  },
});

let server: Awaited<ReturnType<typeof serveRoutes>>["server"];
let key: string;

beforeAll(async () => {
  ({ server, key } = await serveRoutes([workRoute]));
});

afterAll(() => server[Symbol.asyncDispose]());

test("of 150 requests of 1 ms that arrive at once, at most 21 begin in one turn of the event loop", async () => {
  const request = requestHead("GET /v1/work", { authorization: `Bearer ${key}` });
  // Node accepts one connection in a turn, so the first requests come one by one and do not count.
  const clients = await Promise.all(Array.from({ length: requests }, () => rawClient(server.port, request)));
  expect(new Set(await Promise.all(clients.map(({ status }) => status)))).toEqual(new Set([200]));
  begun = [];
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  for (const { socket } of clients) socket.write(request);
  await expect.poll(() => begun.length, { timeout: 10_000 }).toBe(requests);
  isOver = true;
  for (const client of clients) client[Symbol.dispose]();
  const perTurn = Array.from(Map.groupBy(begun, (each) => each).values(), ({ length }) => length);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(turnMax);
});
