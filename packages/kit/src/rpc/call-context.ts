import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import { randomFillSync } from "node:crypto";
import { uuidv7 } from "../uuid.ts";

/** Who calls, and how the call is told apart from others. Travels in metadata from hop to hop. */
export interface CallContext {
  /** Of the request that came in at the edge, for logs. */
  readonly requestId: string;
  /** W3C Trace Context. */
  readonly traceparent: string;
  /** Who acts, for history; "" when nobody said. */
  readonly actor: string;
  /** The actor's role, as the caller asserts it; "" when nobody said. */
  readonly role: string;
}

/** Set by the RPC server on every call, since AsyncLocalStorage is lost in `async *` handlers. */
export const callContextKey = createContextKey<CallContext>({ requestId: "", traceparent: "", actor: "", role: "" });

/** The context of the call being handled. */
export function callContext(context: HandlerContext): CallContext {
  return context.values.get(callContextKey);
}

const requestIdPattern = /^[\w.-]{1,64}$/;
const traceparentPattern = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Reads a context from metadata; what is missing or malformed is made anew. */
export function readCallContext(header: Headers): CallContext {
  const requestId = header.get("x-request-id") ?? "";
  return {
    requestId: requestIdPattern.test(requestId) ? requestId : uuidv7(),
    traceparent: readTraceparent(header.get("traceparent")),
    actor: header.get("vidimus-actor") ?? "",
    role: header.get("vidimus-role") ?? "",
  };
}

/** Random bytes are drawn by the page: a draw costs 5 µs whatever its size, and every request needs one. */
const page = Buffer.alloc(24 * 256);
let used = page.length;

/** A traceparent for a new trace, not sampled. */
export function newTraceparent(): string {
  if (used === page.length) {
    randomFillSync(page);
    used = 0;
  }
  const ids = page.toString("hex", used, (used += 24));
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-00`;
}

/** A W3C traceparent as it came in, or a new one. */
export function readTraceparent(value: string | null | undefined): string {
  return value && traceparentPattern.test(value) ? value : newTraceparent();
}

/** Metadata that carries a context to the next service. */
export function contextHeaders(context: Partial<CallContext>): Record<string, string> {
  return {
    ...(context.requestId ? { "x-request-id": context.requestId } : {}),
    ...(context.traceparent ? { traceparent: context.traceparent } : {}),
    ...(context.actor ? { "vidimus-actor": context.actor } : {}),
    ...(context.role ? { "vidimus-role": context.role } : {}),
  };
}
