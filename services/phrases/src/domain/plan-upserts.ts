import { keyOf, type Phrase, type PhraseDraft } from "./phrase.ts";

/** One row to write. `standing` is what it was, and what it must still be in id and key. */
export type PhraseWrite =
  | { readonly kind: "insert"; readonly phrase: Phrase }
  | { readonly kind: "replace"; readonly standing: Phrase; readonly phrase: Phrase }
  | { readonly kind: "delete"; readonly standing: Phrase };

/** What a list of upserts comes to. */
export interface UpsertPlan {
  /** To be done in this order: a key may be free only because an earlier write freed it. */
  readonly writes: readonly PhraseWrite[];
  /** What each draft became; shorter than the drafts when there are conflicts. */
  readonly phrases: readonly Phrase[];
  /** Drafts, by position, whose id belongs to one phrase and whose key to another. */
  readonly conflicts: readonly { readonly position: number; readonly message: string }[];
}

/** What phrases are stamped with. */
export interface Stamps {
  readonly now: Date;
  mintId(): string;
}

/**
 * Decides what upserting the drafts one after the other comes to. A draft is the phrase with its id if there is one, else
 * the phrase with its key, else a new one, which takes the draft's id if it brings one.
 *
 * @param standing every phrase that has the id or the key of one of the drafts
 */
export function planUpserts(drafts: readonly PhraseDraft[], standing: readonly Phrase[], stamps: Stamps): UpsertPlan {
  const byId = new Map(standing.map((phrase) => [phrase.id, phrase]));
  const byKey = new Map(standing.map((phrase) => [keyOf(phrase), phrase]));
  const writes: PhraseWrite[] = [];
  const phrases: Phrase[] = [];
  const conflicts: { position: number; message: string }[] = [];
  for (const [position, draft] of drafts.entries()) {
    const keyOwner = byKey.get(keyOf(draft));
    const idOwner = draft.id === undefined ? undefined : byId.get(draft.id);
    if (idOwner && keyOwner && idOwner.id !== keyOwner.id) {
      conflicts.push({ position, message: `belongs to one phrase and the text to another, ${keyOwner.id}` });
      continue;
    }
    const current = idOwner ?? keyOwner;
    if (current && isSame(current, draft)) {
      phrases.push(current);
      continue;
    }
    const phrase = stamped(draft, current, stamps);
    if (current) byKey.delete(keyOf(current));
    byId.set(phrase.id, phrase);
    byKey.set(keyOf(phrase), phrase);
    writes.push(current ? { kind: "replace", standing: current, phrase } : { kind: "insert", phrase });
    phrases.push(phrase);
  }
  return { writes, phrases, conflicts };
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
