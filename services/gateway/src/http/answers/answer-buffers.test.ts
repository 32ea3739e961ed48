import { fastify } from "fastify";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { openPools } from "../../limits/pools.ts";
import { AnswerBuffers } from "./answer-buffers.ts";
import { AnswerEncoder } from "./answer-encoder.ts";
import { ok } from "./answer.ts";

test("with no memory left a read is refused, and the answer to a write that was done is sent", async () => {
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
