import { type CallOptions, createContextValues } from "@connectrpc/connect";
import { contextHeaders } from "@vidimus/kit/rpc/context/call-context";
import { type RoundCounter, roundsKey } from "./rounds.ts";

const callMs = 5_000;

/** The parts of a request that its calls to services pass on. */
export interface Acting {
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly from: string;
  readonly rounds: RoundCounter;
}

/** Options of a call with its actor, role and deadline. */
export function actingAs(call: Acting, actor: string, role = ""): CallOptions {
  const { requestId, signal, from, rounds } = call;
  return {
    headers: contextHeaders({ requestId, actor, role, from }),
    signal,
    timeoutMs: callMs,
    contextValues: createContextValues().set(roundsKey, rounds),
  };
}
