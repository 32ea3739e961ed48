import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { readRefusal } from "./support/read-refusal.ts";
import { bearer } from "./support/start-gateway.ts";

let edge: Edge;

beforeAll(async () => {
  edge = await openEdge();
});

afterAll(() => edge[Symbol.asyncDispose]());

describe("404", () => {
  test.each([
    "/",
    "/nowhere",
    "/v1",
    "/v1/",
    "/v1/document",
    "/v1/documents/",
    "/v2/documents",
    "/V1/documents",
    "/openapi.json",
    "/docs",
    "/metrics",
  ])("%s is NOT_FOUND in the envelope, with or without a key", async (path) => {
    for (const headers of [{}, bearer(edge.key)]) {
      const response = await fetch(`${edge.gateway.url}${path}`, { headers });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
    }
  });

  test("is the only answer to a request with a body, too", async () => {
    const answer = await edge.raw(
      "POST /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n12345",
    );
    expect(readRefusal(answer)).toEqual({ status: 404, code: "NOT_FOUND" });
  });
});

describe("405 and OPTIONS", () => {
  test.each(["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "QUERY", "LINK"])(
    "%s is METHOD_NOT_ALLOWED before 401",
    async (method) => {
      const answer = await edge.raw(`${method} /v1/documents HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^allow: POST, GET, HEAD, OPTIONS\r$/m);
      expect(readRefusal(answer)).toEqual({ status: 405, code: "METHOD_NOT_ALLOWED" });
    },
  );

  test("OPTIONS says what is allowed, and invites no other origin to /v1", async () => {
    const response = await fetch(`${edge.gateway.url}/v1/documents`, { method: "OPTIONS" });
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe("POST, GET, HEAD, OPTIONS");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});
