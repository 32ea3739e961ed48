/**
 * While one tenant's exports wait for their readers, another tenant reads and writes its
 * dictionary.
 */
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDictionary } from "../support/dictionary.ts";

const readers = 400;
/** What one process of phrases exports at once for a tenant. */
const share = 8;
/** Allows for other work on the machine. */
const answerMsMax = 2_000;

const sockets: Socket[] = [];
let stack: ProcessConstellation;

beforeAll(async () => {
  stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" });
});

afterAll(async () => {
  // Sockets are closed first: a stopping gateway would wait ten seconds for them.
  for (const socket of sockets) socket.destroy();
  await stack?.[Symbol.asyncDispose]();
});

/**
 * Asks for an export and takes no more than its beginning: the head of the answer, and what came
 * with it.
 */
async function startOf(apiKey: string): Promise<string> {
  const { hostname: host, port } = new URL(stack.dev.gateway);
  const socket = connect({ host, port: Number(port) });
  sockets.push(socket);
  socket.write(`GET /v1/phrases?format=csv HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  return chunk.toString("latin1");
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+) /.exec(answer)?.[1]);

async function timed(work: () => Promise<number>): Promise<number> {
  const begun = performance.now();
  expect(await work()).toBe(200);
  return performance.now() - begun;
}

test("of 400 readers that stop reading, 8 get an export, and another tenant's calls take under 2 s", async () => {
  const { gateway, tenants } = stack.dev;
  const [attackerKey, neighbourKey] = tenants.map(({ apiKey }) => apiKey) as [string, string];
  const attacker = openDictionary(gateway, attackerKey);
  const neighbour = openDictionary(gateway, neighbourKey);
  // More than the buffers of the sockets take.
  const rows = Array.from({ length: 50_000 }, (_, n) => `sv,ord ${n},${"x".repeat(150)}\n`);
  expect((await attacker.import(`language,phrase,description\n${rows.join("")}`)).status).toBe(200);
  await neighbour.put({ language: "sv", phrase: "granne" });

  const starts = Promise.all(Array.from({ length: readers }, () => startOf(attackerKey)));
  let slowestMs = 0;
  const work = async () => {
    const put = { language: "sv", phrase: "granne", description: `${performance.now()}` };
    const putMs = await timed(async () => (await neighbour.send("PUT", "", JSON.stringify(put))).status);
    slowestMs = Math.max(slowestMs, putMs, await timed(async () => (await neighbour.get()).status));
  };
  const started = new AbortController();
  void starts.finally(() => started.abort());
  while (!started.signal.aborted) await work();
  for (let turn = 0; turn < 20; turn += 1) await work();

  const answers = await starts;
  expect(answers.filter((answer) => statusOf(answer) === 200)).toHaveLength(share);
  expect(answers.filter((answer) => statusOf(answer) === 429)).toHaveLength(readers - share);
  const refused = answers.find((answer) => answer.includes("The tenant's share of the exports at once"));
  expect(refused).toMatch(/^retry-after: 1\r$/m);
  expect(slowestMs).toBeLessThan(answerMsMax);
}, 60_000);
