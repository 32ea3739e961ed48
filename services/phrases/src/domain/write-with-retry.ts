import { DomainError } from "@vidimus/kit/errors";
import { setTimeout as pause } from "node:timers/promises";
import { type Dictionary, wantedOf, type Write } from "./dictionary.ts";
import type { PhraseDraft } from "./phrase.ts";
import { type Outcome, planUpserts, type Stamps, type UpsertPlan } from "./plan-upserts.ts";

/** An attempt fails only when a concurrent write has succeeded, so 100 failures mean 100 writes. */
const attemptsMax = 100;

/**
 * Upserts the drafts. Plans on the phrases as they stand, writes, and plans again when a concurrent
 * write changed one of them. A plan with conflicts is returned without writing. `outcomes` of the
 * returned plan count what earlier attempts have written as written.
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
  const attempted = new Map<string, Outcome>();
  return withRetry(async () => {
    const plan = planUpserts(drafts, await dictionary.find(tenantId, wantedOf(drafts)), stamps);
    const done = plan.conflicts.length > 0 || plan.writes.length === 0 || (await write(plan.writes));
    if (done) return attempted.size === 0 ? plan : { ...plan, outcomes: outcomesAfter(plan, attempted) };
    for (const [index, { id }] of plan.phrases.entries()) {
      const outcome = plan.outcomes[index];
      if (outcome && outcome !== "unchanged") attempted.set(id, outcome);
    }
    return undefined;
  });
}

/** An attempt that failed has written a part: its phrases stand as planned, under the ids that it gave them. */
function outcomesAfter({ phrases, outcomes }: UpsertPlan, attempted: ReadonlyMap<string, Outcome>): Outcome[] {
  return outcomes.map((outcome, index) => {
    const earlier = attempted.get(phrases[index]?.id ?? "");
    return earlier === "created" || outcome === "unchanged" ? (earlier ?? outcome) : outcome;
  });
}

/**
 * Deletes a phrase.
 *
 * @returns false when there is none with that id
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
    // Reads have majority concern: the concurrent write is visible only after a few milliseconds.
    await pause(1 + Math.random() * 10);
  }
  throw new DomainError("unavailable", "too many changes of this dictionary at once");
}
