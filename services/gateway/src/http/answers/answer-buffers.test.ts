import { fastify, type FastifyReply, type FastifyRequest } from "fastify";
import { EventEmitter } from "node:events";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { openPools } from "../../pools/pools.ts";
import { AnswerBuffers } from "./answer-buffers.ts";
import { AnswerEncoder } from "./answer-encoder.ts";
import { ok } from "./answer.ts";

async function* breaking(broken: Promise<never>): AsyncGenerator<Uint8Array> {
  yield Buffer.from("begun");
  yield await broken;
}

test("without memory for answers a GET is refused, but a PUT, which is done already, is answered", async () => {
  const registry = new Registry();
  using answers = new AnswerBuffers(openPools(registry, { answerBytes: 0 }), new AnswerEncoder(), registry);
  await using app = fastify();
  const answer = ok(200, { phrase: "x".repeat(50 * 1024) });
  app.route({
    method: ["GET", "PUT"],
    url: "/",
    handler: async (request, reply) => answers.send(request, reply, await answers.prepare(request, reply, answer)),
  });
  const put = await app.inject({ method: "PUT", url: "/" });
  expect([put.statusCode, put.body]).toEqual([200, answer.body]);
  expect((await app.inject({ method: "GET", url: "/" })).json()).toMatchObject({
    message: expect.stringContaining("memory for unread answers"),
  });
});

test.each([
  ["fails its request", false],
  ["does not fail the request of a client that has left", true],
] as const)("a stream that breaks at its beginning %s", async (_, left) => {
  const registry = new Registry();
  using answers = new AnswerBuffers(openPools(registry), new AnswerEncoder(), registry);
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const answer = { status: 200, headers: {}, body: () => breaking(broken) };
  const raw = Object.assign(new EventEmitter(), { closed: false, req: { socket: {} } });
  const request = { method: "GET", headers: {} } as FastifyRequest;
  const prepared = answers.prepare(request, { raw } as unknown as FastifyReply, answer);
  raw.closed = left;
  reject(new Error("canceled"));
  if (left) expect(await prepared).toBe(answer);
  else await expect(prepared).rejects.toThrow("canceled");
});
