import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type Answer, bodyBytes } from "./answer.ts";
import { AnswerEncoder } from "./answer-encoder.ts";

const headers = { "content-type": "application/json" };
const answerOf = (body: Answer["body"], shared?: Answer["shared"]): Answer =>
  shared ? { status: 200, headers, body, shared } : { status: 200, headers, body };
const get = (encoding: string, method = "GET") => ({ method, headers: { "accept-encoding": encoding } });
const text = (bytes: number) => "lorem ipsum ".repeat(Math.ceil(bytes / 12)).slice(0, bytes);

async function bytesOf({ body }: Answer): Promise<Buffer> {
  if (typeof body === "function") return buffer(body());
  return Buffer.concat([body].flat().map((piece) => Buffer.from(piece ?? "")));
}

test.each([1024, 8 * 1024, 8 * 1024 + 1, 1024 * 1024, 1024 * 1024 + 1, 5_000_000])(
  "a body of %i bytes is compressed, as text, as bytes and in pieces",
  async (bytes) => {
    const whole = Buffer.from(text(bytes));
    const bodies = [whole.toString(), whole, [whole.subarray(0, 100), whole.subarray(100)]];
    for (const body of bodies) {
      const br = await new AnswerEncoder().encode(get("br, gzip"), answerOf(body));
      const gzip = await new AnswerEncoder().encode(get("gzip"), answerOf(body));
      expect([br.headers, gzip.headers]).toEqual([
        { ...headers, "content-encoding": "br" },
        { ...headers, "content-encoding": "gzip" },
      ]);
      expect(brotliDecompressSync(await bytesOf(br)).equals(whole)).toBe(true);
      expect(gunzipSync(await bytesOf(gzip)).equals(whole)).toBe(true);
    }
  },
);

test.each([
  ["a body of 1,023 bytes", get("br"), answerOf(text(1023))],
  ["no body", get("br"), { status: 304, headers, body: undefined }],
  ["the method HEAD", get("br", "HEAD"), answerOf(text(5_000))],
  ["a client that takes neither br nor gzip", get("identity, zstd"), answerOf(text(5_000))],
])("with %s the answer is not compressed", (_, request, answer) => {
  expect(new AnswerEncoder().encode(request, answer)).toBe(answer);
});

test("readers of one shared answer get the same bytes, compressed once", async () => {
  const encoder = new AnswerEncoder();
  const shared = { tenantId: "acme", name: "newest" };
  const pages = await Promise.all(
    Array.from({ length: 3 }, async () => encoder.encode(get("br"), answerOf(Buffer.from(text(70_000)), shared))),
  );
  expect(new Set(pages.map(({ body }) => body)).size).toBe(1);
  const [page] = pages;
  if (typeof page?.body === "object") expect(bodyBytes(page.body)).toBeLessThan(1_000);
  const alone = await encoder.encode(get("br"), answerOf(Buffer.from(text(70_000))));
  expect(alone.body).not.toBe(page?.body);
});
