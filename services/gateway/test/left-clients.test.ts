import { afterAll, beforeAll, expect, test } from "vitest";
import { defineRoute } from "../src/http/route.ts";
import { rawClient, requestHead } from "./support/raw-client.ts";
import { serveRoutes } from "./support/serve-routes.ts";

const held = Promise.withResolvers<void>();
/** The body of each request that a handler was given. */
const handled: string[] = [];

/** Works until `held` resolves. */
const workRoute = defineRoute({
  method: "POST",
  url: "/v1/work",
  scope: "phrases:read",
  body: { types: ["text/plain"], bytesMax: 100 },
  doc: { operationId: "x", summary: "x", success: { status: 200, description: "x", content: {} } },
  handler:
    () =>
    async ({ body }) => {
      handled.push(body.toString());
      await held.promise;
      return { status: 200, headers: {}, body: "" };
    },
});

let gateway: Awaited<ReturnType<typeof serveRoutes>>;

beforeAll(async () => {
  gateway = await serveRoutes([workRoute], { slots: 1 });
});

afterAll(() => gateway.server[Symbol.asyncDispose]());

/** Requests that ended with this status. */
async function ended(status: number): Promise<number> {
  const metric = await gateway.registry.getSingleMetric("vidimus_http_handled_seconds")!.get();
  const counts = metric.values.filter((each) => (each as { metricName?: string }).metricName?.endsWith("_count"));
  return counts.find(({ labels }) => labels["status"] === status)?.value ?? 0;
}

test("a request whose client left while it waited for its slot is not handled", async () => {
  const send = (body: string) => {
    const head = { authorization: `Bearer ${gateway.key}`, "content-type": "text/plain", "content-length": "5" };
    return rawClient(gateway.server.port, requestHead("POST /v1/work", head) + body);
  };
  using first = await send("first");
  await expect.poll(() => handled).toEqual(["first"]);
  using left = await send("wait1");
  using waiting = await send("wait2");
  await expect.poll(() => gateway.pools.slots.waitingOf("acme")).toBe(2);
  left.socket.destroy();
  await expect.poll(() => ended(499)).toBe(1);
  held.resolve();
  expect([await first.status, await waiting.status]).toEqual([200, 200]);
  expect(handled).toEqual(["first", "wait2"]);
});
