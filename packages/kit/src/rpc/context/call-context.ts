import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import { uuidv7 } from "../../ids.ts";
import { randomHex } from "../../random-hex.ts";
import { decodeActor, encodeActor } from "./actor-name.ts";

/**
 * Who makes a request, for whom, and in which trace. All but `identity` is passed on in metadata
 * from service to service.
 */
export interface CallContext {
  /** Id of the request at the edge, for logs. */
  readonly requestId: string;
  /** W3C Trace Context. */
  readonly traceparent: string;
  /** Name of the actor, as the caller asserts it; "" when the metadata has none. */
  readonly actor: string;
  /** Role of the actor, as the caller asserts it; "" when the metadata has none. */
  readonly role: string;
  /** Identity of the caller's certificate; "" on a plaintext door, which only loopback reaches. */
  readonly identity: string;
  /**
   * IP address of the caller at a teams door, or of the person for whom it acts, as the caller
   * states it. At a mesh door the IP address of the public API's client, as the gateway states it.
   * "" when unknown.
   */
  readonly from: string;
}

/** What a door knows of a caller from its connection, not from metadata. */
interface KnownCaller {
  /** Identity of its certificate; "" on a plaintext door. */
  readonly identity: string;
  /** Its IP address; absent at mesh doors, where metadata state it. */
  readonly from?: string;
}

/** Set by the door on every call. AsyncLocalStorage would be lost in `async *` handlers. */
export const callContextKey = createContextKey<CallContext>({
  requestId: "",
  traceparent: "",
  actor: "",
  role: "",
  identity: "",
  from: "",
});

export function callContext(context: HandlerContext): CallContext {
  return context.values.get(callContextKey);
}

const requestIdPattern = /^[\w.-]{1,64}$/;
/** A trace id or span id of only zeros is malformed. */
const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Reads a context from metadata. Replaces a missing or malformed request id and traceparent.
 *
 * @param caller what the connection proves; metadata are written by the caller and prove nothing
 * @param traceparent of the call's span; by default that of the metadata
 */
export function readCallContext(
  header: Pick<Headers, "get">,
  { identity, from }: KnownCaller,
  traceparent?: string,
): CallContext {
  const requestId = header.get("x-request-id") ?? "";
  return {
    requestId: requestIdPattern.test(requestId) ? requestId : uuidv7(),
    traceparent: traceparent ?? readTraceparent(header.get("traceparent")),
    actor: readActor(header.get("vidimus-actor") ?? ""),
    role: header.get("vidimus-role") ?? "",
    identity,
    from: from ?? header.get("vidimus-from") ?? "",
  };
}

/**
 * A name that cannot be decoded is kept as it is; the teams door refuses it in `requireActorName`.
 */
function readActor(encoded: string): string {
  return decodeActor(encoded) ?? encoded;
}

/** Returns a traceparent of a new trace, not sampled. */
export function newTraceparent(): string {
  const ids = randomHex(24);
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-00`;
}

export function readTraceparent(value: string | null | undefined): string {
  return parseTraceparent(value) ?? newTraceparent();
}

/** Returns the given W3C traceparent; undefined when it is missing or malformed. */
export function parseTraceparent(value: string | null | undefined): string | undefined {
  return value && traceparentPattern.test(value) ? value : undefined;
}

export function contextHeaders(context: Partial<CallContext>): Record<string, string> {
  return {
    ...(context.requestId ? { "x-request-id": context.requestId } : {}),
    ...(context.traceparent ? { traceparent: context.traceparent } : {}),
    ...(context.actor ? { "vidimus-actor": encodeActor(context.actor) } : {}),
    ...(context.role ? { "vidimus-role": context.role } : {}),
    ...(context.from ? { "vidimus-from": context.from } : {}),
  };
}
