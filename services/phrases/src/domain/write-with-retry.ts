import { DomainError } from "@vidimus/kit/errors";
import { setTimeout as pause } from "node:timers/promises";
import { type Dictionary, wantedOf, type Write } from "./dictionary.ts";
import { keyOf, type PhraseDraft } from "./phrase.ts";
import { type Outcome, planUpserts, type Stamps, type UpsertPlan } from "./plan-upserts.ts";

/**
 * An attempt fails only because of a concurrent write, and seldom two because of the same one, so
 * 100 failures mean many such writes.
 */
const attemptsMax = 100;

/**
 * Upserts the drafts: plans on the current phrases, writes, and plans again when a concurrent write
 * changed one of them. A plan with conflicts is returned and not written. The outcomes of the
 * returned plan include what earlier attempts have written.
 *
 * @throws DomainError `unavailable` after 100 attempts
 */
export function upsertWithRetry(
  dictionary: Pick<Dictionary, "find">,
  tenantId: string,
  drafts: readonly PhraseDraft[],
  stamps: Stamps,
  write: Write,
): Promise<UpsertPlan> {
  const attempted = new Set<string>();
  return withRetry(async () => {
    const plan = planUpserts(drafts, await dictionary.find(tenantId, wantedOf(drafts)), stamps);
    const done = plan.conflicts.length > 0 || plan.writes.length === 0 || (await write(plan.writes));
    if (done) return { ...plan, outcomes: outcomesAfter(plan, attempted, stamps) };
    for (const [index, { id }] of plan.phrases.entries()) if (plan.outcomes[index] !== "unchanged") attempted.add(id);
    return undefined;
  });
}

/**
 * Replaces the phrase with the draft's id if it still has `updatedAt`, as the caller has read it.
 *
 * @throws DomainError `conflict` when the phrase was changed or deleted since, `unavailable` after
 * 100 attempts
 */
export function replaceUnchanged(
  dictionary: Pick<Dictionary, "find">,
  tenantId: string,
  draft: PhraseDraft,
  updatedAt: Date,
  stamps: Stamps,
  write: Write,
): Promise<UpsertPlan> {
  return withRetry(async () => {
    const standing = await dictionary.find(tenantId, wantedOf([draft]));
    const read = standing.find(({ id, updatedAt: at }) => id === draft.id && at.getTime() === updatedAt.getTime());
    if (!read) throw new DomainError("conflict", "the phrase was changed or deleted since it was read");
    const plan = planUpserts([draft], standing, stamps);
    const writes = plan.writes.map((each) => (each.kind === "replace" ? ({ ...each, isExact: true } as const) : each));
    return plan.conflicts.length > 0 || writes.length === 0 || (await write(writes)) ? plan : undefined;
  });
}

/**
 * Creates a phrase under the draft's id, so that a repeated call finds it. If the id is taken, the
 * draft replaces the phrase that has it.
 *
 * @throws DomainError `already_exists` when another phrase has the draft's language and text,
 * `unavailable` after 100 attempts
 */
export function createUnderOwnId(
  dictionary: Pick<Dictionary, "find">,
  tenantId: string,
  draft: PhraseDraft,
  stamps: Stamps,
  write: Write,
): Promise<UpsertPlan> {
  return withRetry(async () => {
    const standing = await dictionary.find(tenantId, wantedOf([draft]));
    if (standing.some((phrase) => phrase.id !== draft.id && keyOf(phrase) === keyOf(draft))) {
      const message = "is in the dictionary already, in this language";
      throw new DomainError("already_exists", `phrase ${message}`, { violations: [{ pointer: "/phrase", message }] });
    }
    const plan = planUpserts([draft], standing, stamps);
    return plan.writes.length === 0 || (await write(plan.writes)) ? plan : undefined;
  });
}

/**
 * The outcomes of all attempts together. A phrase that a failed attempt has written is unchanged in
 * the plan of the retry, but one of its dates is `now`; a phrase that a concurrent write has made
 * alike has other dates.
 */
function outcomesAfter({ phrases, outcomes }: UpsertPlan, attempted: ReadonlySet<string>, { now }: Stamps): Outcome[] {
  return outcomes.map((outcome, index) => {
    const phrase = phrases[index];
    if (!phrase || !attempted.has(phrase.id)) return outcome;
    if (phrase.createdAt.getTime() === now.getTime()) return "created";
    return phrase.updatedAt.getTime() === now.getTime() ? "changed" : "unchanged";
  });
}

/**
 * @returns false when there is no phrase with that id
 * @throws DomainError `unavailable` after 100 attempts
 */
export function deleteWithRetry(
  dictionary: Pick<Dictionary, "find" | "change">,
  tenantId: string,
  id: string,
): Promise<boolean> {
  return dictionary.change(tenantId, (write) =>
    withRetry(async () => {
      const [standing] = await dictionary.find(tenantId, { ids: [id], keys: [] });
      if (!standing) return false;
      return (await write([{ kind: "delete", standing }])) ? true : undefined;
    }),
  );
}

async function withRetry<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < attemptsMax; tries += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    // Reads have majority concern, so the concurrent write becomes visible only after a few
    // milliseconds.
    await pause(1 + Math.random() * 10);
  }
  throw new DomainError("unavailable", "too many changes of this dictionary at once");
}
