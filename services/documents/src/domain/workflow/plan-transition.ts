import type { Chosen, DocumentStanding, Standing } from "./choose-transition.ts";
import { publishedState, withdrawnState } from "./definition.ts";

/** What a transition changes. */
export interface TransitionPlan {
  /** The version that is moved. */
  readonly version: number;
  readonly from: string;
  readonly to: string;
  /** Where the head stands afterwards. */
  readonly headStatus: string;
  /** The live version afterwards, when readers are touched; its snapshot has status `snapshot`. */
  readonly live?: Standing & { readonly snapshot: typeof publishedState | typeof withdrawnState };
}

/**
 * What follows from a chosen transition. Reaching the published or the withdrawn state makes a snapshot of that status.
 * Leaving either for a terminal state makes a withheld one first, since a terminal state alone would tell receivers
 * nothing; it ends the head too.
 */
export function planTransition(document: DocumentStanding, { transition, moved, from, to }: Chosen): TransitionPlan {
  const { version } = moved;
  const step = { version, from: moved.status, to: transition.to };
  const movesHead = version === document.head.version;
  const headStatus = movesHead ? transition.to : document.head.status;
  switch (to) {
    case "published":
      return { ...step, headStatus, live: { version, status: transition.to, snapshot: publishedState } };
    case "withdrawn":
      return { ...step, headStatus, live: { version, status: transition.to, snapshot: withdrawnState } };
    case "terminal":
      if (from === "working") return { ...step, headStatus };
      return {
        ...step,
        headStatus: transition.to,
        live: { version, status: transition.to, snapshot: withdrawnState },
      };
    case "working":
      return { ...step, headStatus };
    default:
      return to satisfies never;
  }
}
