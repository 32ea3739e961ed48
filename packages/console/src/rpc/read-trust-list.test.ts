import { portOf } from "@vidimus/kit/port";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { listStater } from "../../../verify/test/support/list-stater.ts";
import { readTrustList } from "./read-trust-list.ts";
import { RoundCounter } from "./rounds.ts";

const stater = listStater();
const stated = stater.state({ active: null, keys: [] });

let answer: RequestListener;
const gateway = createServer((request, response) => answer(request, response));
beforeAll(async () => void (await once(gateway.listen(0, "127.0.0.1"), "listening")));
afterAll(() => void gateway.close());

function read(trustRoot: string | undefined, rounds = new RoundCounter(), signal = new AbortController().signal) {
  const gatewayUrl = new URL(`http://127.0.0.1:${portOf(gateway.address())}`);
  return readTrustList({ gatewayUrl, trustRoot }, { signal, now: new Date(), rounds });
}

test.each([
  ["without a root", undefined, false],
  ["under its root", stater.root, true],
])("a list with its statement is verified %s", async (_how, root, hasRoot) => {
  answer = (_, response) => response.writeHead(200, stated.headers).end(stated.body);
  const found = await read(root);
  expect(found).toMatchObject({ hasRoot, answer: { body: stated.body }, list: { revision: 1 } });
  expect(found.refusal).toBeUndefined();
});

test("reading the list counts as one round", async () => {
  answer = (_, response) => response.writeHead(200, stated.headers).end(stated.body);
  const rounds = new RoundCounter();
  await read(undefined, rounds);
  expect(rounds.rounds).toBe(1);
});

const connectionFaults: [string, RequestListener][] = [
  ["has ended before the answer", (request) => request.socket.destroy()],
  ["ends with an answer of 408", (_, response) => response.writeHead(408, { connection: "close" }).end()],
];

test.each(connectionFaults)("a request whose connection %s is sent again", async (_what, fault) => {
  let requests = 0;
  answer = (request, response) => {
    requests += 1;
    if (requests === 1) return fault(request, response);
    response.writeHead(200, stated.headers).end(stated.body);
  };
  expect(await read(undefined)).toMatchObject({ list: { revision: 1 } });
  expect(requests).toBe(2);
});

test.each(connectionFaults)("a request whose connection %s both times is not sent a third time", async (_, fault) => {
  const seen = vi.fn<RequestListener>(fault);
  answer = seen;
  await expect(read(undefined)).rejects.toThrow();
  expect(seen).toHaveBeenCalledTimes(2);
});

test.each([
  [
    "of another root than the pinned one",
    stated.headers,
    listStater().root,
    "the pinned root did not delegate to a list key",
  ],
  ["without a statement", {}, undefined, "statement: the answer does not carry one"],
])("a list %s comes with the reason why receivers refuse it", async (_what, headers, root, reason) => {
  answer = (_, response) => response.writeHead(200, headers).end(stated.body);
  const found = await read(root);
  expect(found).toMatchObject({ answer: { body: stated.body }, refusal: expect.stringContaining(reason) });
  expect(found.list).toBeUndefined();
});

test.each<[string, RequestListener]>([
  ["an answer of 503", (_, response) => response.writeHead(503).end()],
  ["a redirect", (_, response) => response.writeHead(302, { location: "/elsewhere" }).end()],
  ["more than 1 MiB", (_, response) => response.writeHead(200, stated.headers).end("x".repeat(1024 * 1024 + 1))],
  ["a broken connection", (request) => request.socket.destroy()],
])("%s in place of a list fails the reading as unavailable", async (_what, given) => {
  answer = given;
  await expect(read(undefined)).rejects.toMatchObject({ kind: "unavailable" });
});

test("a reading that the caller's signal aborts fails with AbortError, and is not sent again", async () => {
  const leaving = new AbortController();
  const seen = vi.fn<RequestListener>(() => leaving.abort());
  answer = seen;
  await expect(read(undefined, new RoundCounter(), leaving.signal)).rejects.toMatchObject({ name: "AbortError" });
  expect(seen).toHaveBeenCalledOnce();
});
