import { expect, test } from "vitest";
import { readPasted } from "./read-pasted.ts";

const body = '{"id":"a","data":{"text":"x: y"}}';
const expected = { "webhook-id": "snp_1_2", "webhook-signature": "v1,a= v1,b=", "content-digest": "sha-256=:a=:" };

test.for([
  ["lines", "Webhook-Id: snp_1_2\nwebhook-signature:v1,a= v1,b=\ncontent-digest: sha-256=:a=:", body],
  [
    "lines of a textarea, white space around",
    "\r\n  webhook-id:  snp_1_2 \r\nwebhook-signature: v1,a= v1,b=\r\ncontent-digest: sha-256=:a=:\r\n",
    `\r\n ${body}\r\n`,
  ],
  [
    "a whole request in one field",
    `POST http://127.0.0.1:9/hook HTTP/1.1\r\nwebhook-id: snp_1_2\r\nwebhook-signature: v1,a= v1,b=\r\ncontent-digest: sha-256=:a=:\r\n\r\n${body}`,
    "",
  ],
  [
    "what curl prints",
    "> POST /hook HTTP/1.1\n> webhook-id: snp_1_2\n> webhook-signature: v1,a= v1,b=\n> content-digest: sha-256=:a=:\n>",
    body,
  ],
  [
    "what Node prints",
    "{\n  'webhook-id': 'snp_1_2',\n  'webhook-signature': 'v1,a= v1,b=',\n  \"content-digest\": \"sha-256=:a=:\"\n}",
    body,
  ],
  ["JSON", JSON.stringify({ ...expected, "Content-Length": 3, "x-list": ["a", "b"] }), body],
] as const)("headers and body are read from %s", ([, headers, pastedBody]) => {
  const pasted = readPasted(headers, pastedBody);
  for (const [name, value] of Object.entries(expected)) expect(pasted.headers.get(name)).toBe(value);
  expect(pasted.body).toBe(body);
});

test("a line that does not look like a header is skipped", () => {
  expect(readPasted("no header\n<script>: x\n__proto__: y\nconstructor", "").headerCount).toBe(1);
  expect(readPasted("{ no JSON", "").headerCount).toBe(0);
});

test("a header that was not pasted is null, also when its name is constructor", () => {
  const { headers } = readPasted("__proto__: y", "");
  expect([headers.get("constructor"), headers.get("webhook-id")]).toEqual([null, null]);
});

test("when nothing is pasted, the body is empty", () => {
  expect(readPasted("", "").body).toBe("");
});
