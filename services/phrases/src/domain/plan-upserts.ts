import { keyOf, type Phrase, type PhraseDraft } from "./phrase.ts";

/**
 * One write of a row. A replacement or deletion needs a row that still has the id and the key of
 * `standing`; an insert needs that no row has the id or the key of `phrase`.
 */
export type PhraseWrite =
  | { readonly kind: "insert"; readonly phrase: Phrase }
  | {
      readonly kind: "replace";
      readonly standing: Phrase;
      readonly phrase: Phrase;
      /** Whether the row must also still have the `updatedAt` of `standing`. */
      readonly isExact?: true;
    }
  | { readonly kind: "delete"; readonly standing: Phrase };

export type Outcome = "created" | "changed" | "unchanged";

export interface UpsertPlan {
  /** Writes in order, because an earlier write may free the key that a later one takes. */
  readonly writes: readonly PhraseWrite[];
  /**
   * The resulting phrase of each draft, in the order of the drafts. Drafts in conflict have none.
   */
  readonly phrases: readonly Phrase[];
  /** In the order of `phrases`. */
  readonly outcomes: readonly Outcome[];
  /** Drafts, by position from 0, whose id belongs to one phrase and whose key to another. */
  readonly conflicts: readonly { readonly position: number; readonly message: string }[];
}

export interface Stamps {
  readonly now: Date;
  mintId(): string;
}

/** Plans like `planUpserts`, but takes the drafts in several batches. */
export class UpsertPlanner {
  readonly #byId = new Map<string, Phrase>();
  readonly #byKey = new Map<string, Phrase>();
  readonly #stamps: Stamps;

  constructor(stamps: Stamps) {
    this.#stamps = stamps;
  }

  /**
   * Adds stored phrases. Before the first `plan`, add all that have the id or the key of any draft.
   */
  know(standing: readonly Phrase[]): void {
    for (const phrase of standing) {
      this.#byId.set(phrase.id, phrase);
      this.#byKey.set(keyOf(phrase), phrase);
    }
  }

  /** Plans the next drafts, as if the earlier plans had been written. */
  plan(drafts: readonly PhraseDraft[]): UpsertPlan {
    const writes: PhraseWrite[] = [];
    const phrases: Phrase[] = [];
    const outcomes: Outcome[] = [];
    const conflicts: { position: number; message: string }[] = [];
    for (const [position, draft] of drafts.entries()) {
      const keyOwner = this.#byKey.get(keyOf(draft));
      const idOwner = draft.id === undefined ? undefined : this.#byId.get(draft.id);
      if (idOwner && keyOwner && idOwner.id !== keyOwner.id) {
        conflicts.push({ position, message: `belongs to one phrase and the text to another, ${keyOwner.id}` });
        continue;
      }
      const current = idOwner ?? keyOwner;
      if (current && isSame(current, draft)) {
        phrases.push(current);
        outcomes.push("unchanged");
        continue;
      }
      const phrase = stamped(draft, current, this.#stamps);
      if (current) this.#byKey.delete(keyOf(current));
      this.#byId.set(phrase.id, phrase);
      this.#byKey.set(keyOf(phrase), phrase);
      writes.push(current ? { kind: "replace", standing: current, phrase } : { kind: "insert", phrase });
      phrases.push(phrase);
      outcomes.push(current ? "changed" : "created");
    }
    return { writes, phrases, outcomes, conflicts };
  }
}

/**
 * Plans the upserts of drafts in order. A draft replaces the phrase with its id, else the phrase
 * with its key; otherwise it becomes a new phrase, with the draft's id if it has one.
 *
 * @param standing every stored phrase that has the id or the key of one of the drafts
 */
export function planUpserts(drafts: readonly PhraseDraft[], standing: readonly Phrase[], stamps: Stamps): UpsertPlan {
  const planner = new UpsertPlanner(stamps);
  planner.know(standing);
  return planner.plan(drafts);
}

function stamped(draft: PhraseDraft, current: Phrase | undefined, { now, mintId }: Stamps): Phrase {
  const id = current?.id ?? draft.id ?? mintId();
  return { ...draft, id, createdAt: current?.createdAt ?? now, updatedAt: now };
}

function isSame(phrase: Phrase, draft: PhraseDraft): boolean {
  return (
    keyOf(phrase) === keyOf(draft) &&
    phrase.caseSensitive === draft.caseSensitive &&
    phrase.forbidden === draft.forbidden &&
    phrase.description === draft.description &&
    phrase.commonMistakes.length === draft.commonMistakes.length &&
    phrase.commonMistakes.every((mistake, index) => mistake === draft.commonMistakes[index])
  );
}
