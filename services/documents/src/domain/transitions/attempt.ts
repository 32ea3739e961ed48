import { DomainError } from "@vidimus/kit/errors";
import type { Actor, Head } from "../document/document.ts";
import type { WorkflowDefinition } from "../workflow/definition.ts";
import type { Chosen } from "../workflow/legal-transitions.ts";
import type { TransitionPlan } from "../workflow/plan-transition.ts";
import type { LoadedVersion } from "./check-transition.ts";

/** A requested transition of one document. */
export interface DocumentTransition {
  readonly documentId: string;
  /** Name of the transition. */
  readonly name: string;
  /** The version the caller saw. */
  readonly expectedVersion: number;
  readonly by: Actor;
  /** Names the request, so that a repetition is answered as the first; absent when nobody named it. */
  readonly requestToken?: string;
  /** W3C Trace Context of the call, when its trace is recorded. */
  readonly traceparent?: string;
}

/** The state of a document after a transition. */
export interface Transitioned {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly status: string;
  /** Of the snapshot the transition made; 0 when it made none. */
  readonly sequence: number;
  /** Set when the transition changed what readers see. */
  readonly updatedAt?: Date;
  /** Of the request. */
  readonly traceparent?: string;
}

/** A request that no check has refused so far. */
export interface Attempt {
  readonly request: DocumentTransition;
  readonly head: Head;
  readonly definition: WorkflowDefinition;
  readonly chosen: Chosen;
  readonly plan: TransitionPlan;
}

/** An attempt with the version that it acts on. */
export interface Loaded extends Attempt {
  readonly version: LoadedVersion;
}

/** What a stage answers, or the refusal that it threw. */
export async function refusal<T>(stage: () => T | Promise<T>): Promise<T | DomainError> {
  try {
    return await stage();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}
