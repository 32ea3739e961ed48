import { portOf } from "@vidimus/kit/port";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { refuse } from "./testing/gateway.ts";
import { run } from "./testing/run.ts";

/** Rows of each part that was taken. */
let taken: number[];
/** Requests that are told to come later first. */
let busy: number;
let server: Server;

beforeEach(async () => {
  taken = [];
  busy = 0;
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
  const imported = (JSON.parse(Buffer.concat(chunks).toString()) as unknown[]).length;
  taken.push(imported);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ ok: true, data: { imported } }));
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

test("what is told to come later is waited out, part for part", async () => {
  busy = 2;
  expect(await importWords(60_000)).toMatchObject({ code: 0, stdout: "60000 imported\n", pausesMs: [33_000, 33_000] });
  expect(taken).toEqual([10_000, 10_000, 10_000, 10_000, 10_000, 10_000]);
});

test("patience ends with --max-wait, and says what was asked", async () => {
  busy = 100;
  const { code, stderr } = await importWords(1);
  expect(code).toBe(1);
  expect(stderr).toContain("RATE_LIMITED");
  expect(taken).toEqual([]);
});
