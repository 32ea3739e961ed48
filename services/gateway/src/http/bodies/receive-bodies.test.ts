import { fastify } from "fastify";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { receiveBodies } from "./receive-bodies.ts";

const piece = 64 * 1024;
const bodies = 8;
const piecesEach = 32;

/** A body of 2 MiB that has arrived already. */
function arrived(): Readable {
  let left = piecesEach;
  return new Readable({
    read() {
      left -= 1;
      this.push(left < 0 ? null : Buffer.alloc(piece));
    },
  });
}

test("one turn of the event loop reads at most 1 MiB of all bodies, and one more piece of each body", async () => {
  await using app = fastify({ bodyLimit: 4 * 1024 * 1024 });
  let inTurn = 0;
  let most = 0;
  const take = (_: string, bytes: number) => {
    inTurn += bytes;
    most = Math.max(most, inTurn);
  };
  app.decorateRequest("bodyType", "");
  app.decorateRequest("bodyScan", undefined);
  const url = "/v1/documents";
  const body = { types: ["application/json"], bytesMax: 4 * 1024 * 1024 };
  receiveBodies(app, [{ method: "POST", url, body }], { take, give: () => {} });
  app.post<{ Body: Buffer }>(url, (request, reply) => reply.send({ bytes: request.body.length }));
  let turn = setImmediate(function next() {
    inTurn = 0;
    turn = setImmediate(next);
  });
  const headers = { "content-type": "application/json" };
  const answers = await Promise.all(
    Array.from({ length: bodies }, () => app.inject({ method: "POST", url, headers, payload: arrived() })),
  );
  clearImmediate(turn);
  expect(answers.map((answer) => answer.json())).toEqual(
    Array.from({ length: bodies }, () => ({ bytes: piecesEach * piece })),
  );
  // Each body brings one piece at least in a turn.
  expect(most).toBeLessThanOrEqual(1024 * 1024 + bodies * (piece + 256) + 16 * 256);
});
