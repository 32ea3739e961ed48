import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { bearer } from "./support/start-gateway.ts";

let edge: Edge;
let gateway: Edge["gateway"];
let key: string;

beforeAll(async () => {
  edge = await openEdge();
  ({ gateway, key } = edge);
});

afterAll(() => edge[Symbol.asyncDispose]());

test.each(["x", "gzip", "br", "identity"])(
  "Content-Encoding: %s on a GET, which has no body, is ignored",
  async (encoding) => {
    const headers = { ...bearer(key), "content-encoding": encoding };
    const response = await fetch(`${gateway.url}/v1/documents?type=core/tag`, { headers });
    expect(response.status).toBe(200);
  },
);

test.each([
  ["DELETE", "/v1/phrases/x"],
  ["POST", "/api/keys"],
])("%s %s with a body marked as gzip has the same status as with a plain body", async (method, path) => {
  const send = async (body: Uint8Array<ArrayBuffer>, encoding: string) => {
    const headers = { ...bearer(key), "content-type": "text/plain", "content-encoding": encoding };
    const signal = AbortSignal.timeout(5_000);
    return (await fetch(`${gateway.url}${path}`, { method, headers, body, signal })).status;
  };
  const plain = await send(Buffer.from("hello"), "identity");
  expect(await send(gzipSync("hello"), "gzip")).toBe(plain);
  expect(await send(Buffer.from("no gzip"), "gzip")).toBe(plain);
});
