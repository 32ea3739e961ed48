import { DomainError } from "@vidimus/kit/errors";
import type { Actor, Head } from "../document/document.ts";
import type { WorkflowDefinition } from "../workflow/definition.ts";
import type { Chosen } from "../workflow/legal-transitions.ts";
import type { TransitionPlan } from "../workflow/plan-transition.ts";
import type { LoadedVersion } from "./transition-guards.ts";

export interface TransitionRequest {
  readonly documentId: string;
  readonly name: string;
  /** The version that the caller saw. */
  readonly expectedVersion: number;
  readonly by: Actor;
  /**
   * Token of the request, by which a repetition gets the first answer; absent when the caller sent
   * none.
   */
  readonly requestToken?: string;
  /** W3C Trace Context of the call; absent unless its trace is recorded. */
  readonly traceparent?: string;
}

export interface TransitionResult {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly status: string;
  /** Sequence of the snapshot that the transition made; 0 when it made none. */
  readonly sequence: number;
  /** Set when the transition changed what readers see. */
  readonly updatedAt?: Date;
  /** W3C Trace Context of the request; absent unless its trace is recorded. */
  readonly traceparent?: string;
}

/** The result of one requested transition; undefined when it is left to the next transaction. */
export type TransitionOutcome = TransitionResult | DomainError | undefined;

/** A request whose transition state, version and role allow; guards are not checked yet. */
export interface Attempt {
  readonly request: TransitionRequest;
  readonly head: Head;
  readonly definition: WorkflowDefinition;
  readonly chosen: Chosen;
  readonly plan: TransitionPlan;
}

export interface Loaded extends Attempt {
  readonly version: LoadedVersion;
}

/** Returns a `DomainError` that `stage` throws; throws any other error. */
export async function refusal<T>(stage: () => T | Promise<T>): Promise<T | DomainError> {
  try {
    return await stage();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

export function traceOf({ traceparent }: TransitionRequest): Pick<TransitionRequest, "traceparent"> {
  return traceparent === undefined ? {} : { traceparent };
}
