/** What editors do to one article, and what has to be true of it after each step: written down, not computed. */
export interface Step {
  /** A transition; "edit" for a change of content. */
  readonly name: string;
  /** The version it moves or writes. */
  readonly version: number;
  /** Status of the snapshot it makes; absent when it makes none. */
  readonly snapshot?: "usable" | "withheld";
  /** Version and status of the head afterwards. */
  readonly head: string;
  /** Version and status of the live version afterwards; absent while it was never published. */
  readonly live?: string;
}

const withdrawnAndKilled: readonly Step[] = [
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", live: "1 usable" },
  { name: "withhold", version: 1, snapshot: "withheld", head: "1 withheld", live: "1 withheld" },
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", live: "1 usable" },
  { name: "kill", version: 1, snapshot: "withheld", head: "1 cancelled", live: "1 cancelled" },
];

const editedWhilePublished: readonly Step[] = [
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", live: "1 usable" },
  { name: "edit", version: 2, head: "2 draft", live: "1 usable" },
  { name: "publish", version: 2, snapshot: "usable", head: "2 usable", live: "2 usable" },
  { name: "withhold", version: 2, snapshot: "withheld", head: "2 withheld", live: "2 withheld" },
];

const throughReview: readonly Step[] = [
  { name: "submit", version: 1, head: "1 review" },
  { name: "approve", version: 1, head: "1 approved" },
  { name: "publish", version: 1, snapshot: "usable", head: "1 usable", live: "1 usable" },
];

/** Lives that touch every kind of write: with and without a snapshot, of the head, of an older version, of both. */
export const lives = [withdrawnAndKilled, editedWhilePublished, throughReview] as const;
