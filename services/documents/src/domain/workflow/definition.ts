/**
 * The kind of a state. `published` and `withdrawn` each have exactly one state (`usable`,
 * `withheld`); a tenant's own states are working or terminal, and no transition leaves a terminal
 * one.
 */
export type StateKind = "working" | "published" | "withdrawn" | "terminal";

/**
 * A condition of a transition. To add one, name it here, check it in `check-guards.ts` with facts
 * from `transition-guards.ts`, read and write it in `parse-definition.ts` and `definition-json.ts`,
 * and list it in workflow_service.proto.
 */
export type Guard =
  /** The version meets its type's rules for publication. */
  | { readonly kind: "publishValid" }
  /** No other published document of the type has the version's `meta.slug`. */
  | { readonly kind: "slugFree" }
  /** `meta.embargoUntil` is absent or past. */
  | { readonly kind: "notEmbargoed" }
  /** The actor and the writer of the version both have names, and different ones. */
  | { readonly kind: "fourEyes" }
  /** The document was never published. */
  | { readonly kind: "neverPublished" }
  /** `meta` has all of these keys, with values that are neither null nor empty. */
  | { readonly kind: "metaPresent"; readonly keys: readonly string[] }
  /** At least one link has this `rel`. */
  | { readonly kind: "linkPresent"; readonly rel: string };

/**
 * All guards that are checked. `siteFree` is checked last at every publication of a site, and
 * cannot be named by workflows.
 */
export type CheckedGuard =
  | Guard
  /**
   * The version's hosts are host names, and no other published site has them; if the version is
   * primary, no other published site is.
   */
  | { readonly kind: "siteFree" };

export interface Transition {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: string;
  /** Roles that may take the transition, besides `owner` and `admin`. */
  readonly roles: readonly string[];
  /** Checked in this order; the first that fails is reported. */
  readonly guards: readonly Guard[];
}

/** One immutable version of a workflow. */
export interface WorkflowDefinition {
  readonly workflowId: string;
  readonly version: number;
  readonly states: ReadonlyMap<string, StateKind>;
  /** Roles that may create documents, besides `owner` and `admin`; absent for every known role. */
  readonly create?: readonly string[];
  /**
   * From state to the roles that may edit a document in this state, besides `owner` and `admin`. In
   * a state that is not in the map every known role may edit, in a terminal one nobody.
   */
  readonly edit: ReadonlyMap<string, readonly string[]>;
  readonly transitions: readonly Transition[];
}

export const publishedState = "usable";
export const withdrawnState = "withheld";
