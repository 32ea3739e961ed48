import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { readRefusal } from "./support/read-refusal.ts";

let edge: Edge;

beforeAll(async () => {
  edge = await openEdge();
});

afterAll(() => edge[Symbol.asyncDispose]());

describe("404", () => {
  test("is the only answer to a request with a body at an unknown path", async () => {
    const answer = await edge.raw(
      "POST /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n12345",
    );
    expect(readRefusal(answer)).toEqual({ status: 404, code: "NOT_FOUND" });
  });
});

describe("405", () => {
  test.each(["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "QUERY", "LINK"])(
    "%s /v1/documents without a key is METHOD_NOT_ALLOWED, not UNAUTHORIZED",
    async (method) => {
      const answer = await edge.raw(`${method} /v1/documents HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^allow: POST, GET, HEAD, OPTIONS\r$/m);
      expect(readRefusal(answer)).toEqual({ status: 405, code: "METHOD_NOT_ALLOWED" });
    },
  );
});
