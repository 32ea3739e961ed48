import type { CallOptions } from "@connectrpc/connect";

/** Longer than an attempt at a receiver, 15 seconds, whose result the person waits for. */
const attemptMs = 20_000;

/** Options of a call that posts to a receiver. */
export function patiently(rpc: CallOptions): CallOptions {
  return { ...rpc, timeoutMs: attemptMs };
}
