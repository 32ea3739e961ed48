/**
 * What a state is for. `published` and `withdrawn` each have exactly one state (`usable`,
 * `withheld`); a tenant's own states are working or terminal, and nothing leads out of a terminal
 * one.
 */
export type StateKind = "working" | "published" | "withdrawn" | "terminal";

/**
 * A condition on a transition, from a closed list: there are no expressions. To add one, name it
 * here, check it in `check-guards.ts`, with the facts from `transition-documents.ts`, read and
 * write it in `parse-definition.ts` and `definition-json.ts`, and list it in
 * workflow_service.proto.
 */
export type Guard =
  /** The version is complete, as its type demands of what is published. */
  | { readonly kind: "publishValid" }
  /** No other published document of the type has the version's `meta.slug`. */
  | { readonly kind: "slugFree" }
  /** `meta.embargoUntil` is absent or past. */
  | { readonly kind: "notEmbargoed" }
  /** The actor is another one than the writer of the version. */
  | { readonly kind: "fourEyes" }
  /** The document was never published. */
  | { readonly kind: "neverPublished" }
  /** Every one of these keys of `meta` is there and neither null nor empty. */
  | { readonly kind: "metaPresent"; readonly keys: readonly string[] }
  /** At least one link has this `rel`. */
  | { readonly kind: "linkPresent"; readonly rel: string };

/** Every guard that is checked; the last one of every publication of a site, and named by no workflow. */
export type CheckedGuard =
  | Guard
  /** The version's hosts are host names that no other published site has, and no other is primary. */
  | { readonly kind: "siteFree" };

/** A named change from any of some states to one. */
export interface Transition {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: string;
  /** Roles that may take it, beside `owner` and `admin`. */
  readonly roles: readonly string[];
  /** Checked in this order; the first that fails is reported. */
  readonly guards: readonly Guard[];
}

/** One immutable version of a workflow. */
export interface WorkflowDefinition {
  readonly workflowId: string;
  readonly version: number;
  readonly states: ReadonlyMap<string, StateKind>;
  /** Roles that may create documents; absent for every known role. */
  readonly create?: readonly string[];
  /** Roles that may edit a document, by its state; every known role in a state that is not there. */
  readonly edit: ReadonlyMap<string, readonly string[]>;
  readonly transitions: readonly Transition[];
}

/** The one published state. */
export const publishedState = "usable";
/** The one withdrawn state. */
export const withdrawnState = "withheld";
