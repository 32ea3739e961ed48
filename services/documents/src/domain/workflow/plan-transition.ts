import type { Chosen } from "./legal-transitions.ts";
import { publishedState, withdrawnState } from "./definition.ts";
import type { DocumentStanding, Standing } from "./standing.ts";

/** What a transition changes: the head, and the last published version if readers see a change. */
export interface TransitionPlan {
  /** The version that the transition acts on. */
  readonly version: number;
  readonly from: string;
  readonly to: string;
  /** State of the head after the transition. */
  readonly headStatus: string;
  /**
   * The last published version after the transition, with the status of its new snapshot; absent
   * when readers see no change.
   */
  readonly lastPublished?: Standing & {
    readonly snapshot: typeof publishedState | typeof withdrawnState;
    /** Whether the document can have no later snapshot. */
    readonly isFinal: boolean;
  };
}

/**
 * The effect of a chosen transition. Reaching the published or the withdrawn state makes a snapshot
 * of that status. A transition from either to a terminal state ends the head, too, and makes a
 * withheld snapshot with `final`, because receivers know no terminal status.
 */
export function planTransition(document: DocumentStanding, { transition, subject, from, to }: Chosen): TransitionPlan {
  const { version } = subject;
  const step = { version, from: subject.status, to: transition.to };
  const standing = { version, status: transition.to };
  const isHead = version === document.head.version;
  const headStatus = isHead ? transition.to : document.head.status;
  switch (to) {
    case "published":
      return { ...step, headStatus, lastPublished: { ...standing, snapshot: publishedState, isFinal: false } };
    case "withdrawn":
      return { ...step, headStatus, lastPublished: { ...standing, snapshot: withdrawnState, isFinal: false } };
    case "terminal":
      if (from === "working") return { ...step, headStatus };
      return {
        ...step,
        headStatus: transition.to,
        lastPublished: { ...standing, snapshot: withdrawnState, isFinal: true },
      };
    case "working":
      return { ...step, headStatus };
    default:
      return to satisfies never;
  }
}
