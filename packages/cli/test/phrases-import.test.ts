import { portOf } from "@vidimus/kit/port";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { refuse } from "./support/gateway.ts";
import { run } from "./support/run.ts";

/** Number of rows of each imported part. */
let taken: number[];
/** How many requests, from the first on, are answered with 429 and Retry-After. */
let busy: number;
/** Message with which the second part is refused. */
let refusal: string | undefined;
let server: Server;

beforeEach(async () => {
  taken = [];
  busy = 0;
  refusal = undefined;
  server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (busy > 0) {
    busy -= 1;
    return refuse(response, 429, "RATE_LIMITED", "later", { headers: { "retry-after": "33" } });
  }
  if (refusal !== undefined && taken.length === 1) return refuse(response, 400, "INVALID_PAYLOAD", refusal);
  const imported = (JSON.parse(Buffer.concat(chunks).toString()) as unknown[]).length;
  taken.push(imported);
  response.writeHead(200, { "content-type": "application/json" });
  const data = { imported, created: imported, changed: 0, unchanged: 0 };
  response.end(JSON.stringify({ ok: true, data }));
}

afterEach(() => void server.close());

const importWords = (count: number) =>
  run(
    [
      "phrases",
      "import",
      "-",
      "--language",
      "sv",
      "--key",
      "vk_test",
      "--gateway",
      `http://127.0.0.1:${portOf(server.address())}`,
    ],
    { stdin: Array.from({ length: count }, (_, n) => `ord ${n}`).join("\n") },
  );

test("an import waits out Retry-After, and then imports every part of its file", async () => {
  busy = 2;
  const stdout = "60000 imported: 60000 created, 0 changed, 0 unchanged\n";
  expect(await importWords(60_000)).toMatchObject({ code: 0, stdout, pausesMs: [33_000, 33_000] });
  expect(taken).toEqual([10_000, 10_000, 10_000, 10_000, 10_000, 10_000]);
});

test("an import fails with RATE_LIMITED before its waits add up to more than --max-wait", async () => {
  busy = 100;
  const { code, stderr, pausesMs } = await importWords(1);
  expect([code, pausesMs]).toEqual([1, [33_000, 33_000, 33_000]]);
  expect(stderr).toContain("RATE_LIMITED");
  expect(taken).toEqual([]);
});

test("a refusal of a later part that names a row in its message names it by its line in the file", async () => {
  refusal = "nothing was imported: index 5: a row has at most 64 KiB";
  const { code, stderr } = await importWords(60_000);
  expect(code).toBe(1);
  expect(stderr).toContain("nothing more was imported: line 10006: a row has at most 64 KiB");
});
