import { expect } from "vitest";

/** The error of an answer, as docs/errors.md describes it. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly pointer?: string; readonly message?: string; readonly reason?: string }[];
}

const ownRequestId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The error of an answer, which must have this status and code, the envelope, and `no-store`. */
export async function refusal(response: Response | Promise<Response>, status: number, code: string): Promise<Refusal> {
  const { status: answered, headers } = await response;
  const text = await (await response).text();
  expect(`${answered} ${text}`).toMatch(new RegExp(`^${status} \\{`));
  const body = JSON.parse(text) as { ok: boolean; error: Refusal };
  expect(body).toEqual({ ok: false, error: expect.objectContaining({ code, message: expect.stringMatching(/\S/) }) });
  expect(Object.keys(body.error).filter((name) => !["code", "message", "details"].includes(name))).toEqual([]);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-request-id")).toMatch(ownRequestId);
  return body.error;
}

/** `data` of an answer, which must be a success of this status in the envelope. */
export async function success<Data>(response: Response | Promise<Response>, status: number): Promise<Data> {
  const answer = await response;
  const text = await answer.text();
  expect(`${answer.status} ${text}`).toMatch(new RegExp(`^${status} \\{`));
  const body = JSON.parse(text) as { ok: boolean; data: Data };
  expect(Object.keys(body)).toEqual(["ok", "data"]);
  expect(body.ok).toBe(true);
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  return body.data;
}

/** An item of `GET /v1/documents`. */
export interface Item {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly meta: { readonly status: string; readonly version: number; readonly [key: string]: unknown };
  readonly content: Readonly<Record<string, unknown>>;
  readonly updated_at: string;
}

/** `data` of `GET /v1/documents`. */
export interface Page {
  readonly items: readonly Item[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}
