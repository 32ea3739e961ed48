import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect, test, vi } from "vitest";
import { openEdge } from "./support/open-edge.ts";
import { bearer } from "./support/start-gateway.ts";

/** Far below the ten seconds after which connections are cut. */
const promptMs = 5_000;

test("a stopping gateway ends the connection of a running request after its answer, and then stops", async () => {
  const edge = await openEdge();
  const { documents, gateway, key } = edge;
  const arrived = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  documents.beforeAnswer = () => {
    arrived.resolve();
    return answered.promise;
  };
  const agent = new Agent({ keepAlive: true });
  const headers = { ...bearer(key), "content-type": "application/json" };
  const sent = request(`${gateway.url}/v1/documents`, { method: "POST", headers, agent });
  sent.end(JSON.stringify({ id: randomUUID(), type: "core/article", title: "A", meta: {}, content: {} }));
  await arrived.promise;
  const startMs = performance.now();
  const stopped = edge[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(fetch(gateway.url)).rejects.toThrow("fetch failed"));
  answered.resolve();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  await stopped;
  expect(answer.statusCode).toBe(201);
  expect(answer.headers.connection).toBe("close");
  expect(performance.now() - startMs).toBeLessThan(promptMs);
  agent.destroy();
});
