import type { CallOptions } from "@connectrpc/connect";

/** An attempt at a receiver may take 15 seconds, and the person waits for its result. */
const attemptMs = 20_000;

/** Options of a call that posts to a receiver. */
export function patiently(rpc: CallOptions): CallOptions {
  return { ...rpc, timeoutMs: attemptMs };
}
