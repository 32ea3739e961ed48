import { expect } from "vitest";

export const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Reads the one answer of a connection. Fails unless it is a refusal in the API's JSON envelope,
 * with a request id that the gateway made, and nothing follows it.
 */
export function readRefusal(answer: string) {
  const [head = "", body = "", ...more] = answer.split("\r\n\r\n");
  expect(more).toEqual([]);
  const headers = new Headers(
    head
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]),
  );
  expect(headers.get("x-request-id")).toMatch(uuidv7);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(Number(headers.get("content-length"))).toBe(Buffer.byteLength(body));
  const envelope = JSON.parse(body) as { ok: boolean; error: { code: string; message: string } };
  expect(envelope).toEqual({
    ok: false,
    error: { code: expect.any(String) as string, message: expect.any(String) as string },
  });
  return { status: Number(head.split(" ")[1]), code: envelope.error.code };
}
