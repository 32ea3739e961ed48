/** A step of an editor with one article, and the state that it must lead to. */
export interface Step {
  /** A transition; "edit" for a change of content. */
  readonly name: string;
  /** The version that the step transitions or writes. */
  readonly version: number;
  /** Status of the step's snapshot; absent when the step makes none. */
  readonly snapshot?: "usable" | "withheld";
  /** Version and status of the head afterwards. */
  readonly head: string;
  /**
   * Version and status of the last published version afterwards; absent before the first
   * publication.
   */
  readonly lastPublished?: string;
}

const withdrawnAndKilled: readonly Step[] = [
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", lastPublished: "1 usable" },
  { name: "withhold", version: 1, snapshot: "withheld", head: "1 withheld", lastPublished: "1 withheld" },
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", lastPublished: "1 usable" },
  { name: "kill", version: 1, snapshot: "withheld", head: "1 cancelled", lastPublished: "1 cancelled" },
];

const editedWhilePublished: readonly Step[] = [
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", lastPublished: "1 usable" },
  { name: "edit", version: 2, head: "2 draft", lastPublished: "1 usable" },
  { name: "publish", version: 2, snapshot: "usable", head: "2 usable", lastPublished: "2 usable" },
  { name: "withhold", version: 2, snapshot: "withheld", head: "2 withheld", lastPublished: "2 withheld" },
];

const throughReview: readonly Step[] = [
  { name: "submit", version: 1, head: "1 review" },
  { name: "approve", version: 1, head: "1 approved" },
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", lastPublished: "1 usable" },
];

const withheldWhileEdited: readonly Step[] = [
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", lastPublished: "1 usable" },
  { name: "edit", version: 2, head: "2 draft", lastPublished: "1 usable" },
  { name: "withhold", version: 1, snapshot: "withheld", head: "2 draft", lastPublished: "1 withheld" },
  { name: "publish", version: 2, snapshot: "usable", head: "2 usable", lastPublished: "2 usable" },
];

/**
 * Together these cover transitions with and without a snapshot, of the head and of an older
 * version, and an edit.
 */
export const lifecycles = [withdrawnAndKilled, editedWhilePublished, throughReview, withheldWhileEdited] as const;
