import type { HandlerContext } from "@connectrpc/connect";
import { DomainError } from "@vidimus/kit/errors";
import { decodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { isSampled } from "@vidimus/kit/telemetry/tracing/tracing";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import type { Actor } from "../domain/document/document.ts";

/** The caller, from its certificate and the metadata of the call. */
export function callingActor(context: HandlerContext): Actor {
  const { actor, role, identity } = callContext(context);
  return { actor, role, ...(identity !== "" && { identity }) };
}

/** W3C Trace Context of the call; undefined unless its trace is recorded. */
export function callingTrace(context: HandlerContext): string | undefined {
  const { traceparent } = callContext(context);
  return isSampled(traceparent) ? traceparent : undefined;
}

/** Throws `invalid`, naming the request's `field`, unless the version is from 1 to 2^53 - 1. */
export function requireVersionNumber(field: string, version: bigint): number {
  if (version >= 1n && version <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(version);
  throw new DomainError("invalid", `${field} must be a version, counted from 1`);
}

const itemsMax = 64;

/**
 * Throws `invalid` for an empty batch and for one of more than 64 items. `what` names the items in
 * the message.
 */
export function requireBatch(items: readonly unknown[], what = "items"): void {
  if (items.length > 0 && items.length <= itemsMax) return;
  throw new DomainError("invalid", `a batch has 1 to ${itemsMax} ${what}, this one ${items.length}`);
}

export interface PageSizeRule {
  readonly max: number;
  /** Size when a request says 0. */
  readonly fallback: number;
}

/** Page size of the lists of documents and of their versions, changes and history. */
export const documentPages: PageSizeRule = { max: 200, fallback: 50 };

/** Throws `invalid` when `limit` is above the maximum. */
export function pageSize(limit: number, { max, fallback }: PageSizeRule): number {
  if (limit <= max) return limit === 0 ? fallback : limit;
  throw new DomainError("invalid", `limit must be from 1 to ${max}, or 0 for ${fallback}`);
}

/**
 * The position in a page token, as `read` makes it from the token's values; undefined for "", the
 * first page. Throws `invalid` when the token cannot be decoded or `read` returns undefined.
 */
export function pagePosition<Position>(
  token: string,
  read: (values: readonly (string | number)[]) => Position | undefined,
): Position | undefined {
  if (token === "") return undefined;
  const values = decodeOpaqueToken(token);
  const position = values && read(values);
  if (position === undefined) throw new DomainError("invalid", "page_token must be one that an earlier page gave");
  return position;
}
