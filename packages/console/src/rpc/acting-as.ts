import { type CallOptions, createContextValues } from "@connectrpc/connect";
import { contextHeaders } from "@vidimus/kit/rpc/context/call-context";
import { type RoundCounter, roundsKey } from "./rounds.ts";

const callMs = 5_000;

/** What calls to services need of the request that makes them. */
export interface Acting {
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly from: string;
  readonly rounds: RoundCounter;
}

/**
 * Options of a call to a service: who acts, in which role ("" for none), and for which request. The
 * call ends after 5 seconds, or when the signal of the request aborts.
 */
export function actingAs(call: Acting, actor: string, role = ""): CallOptions {
  const { requestId, signal, from, rounds } = call;
  return {
    headers: contextHeaders({ requestId, actor, role, from }),
    signal,
    timeoutMs: callMs,
    contextValues: createContextValues().set(roundsKey, rounds),
  };
}
