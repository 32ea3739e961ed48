import { DomainError } from "@vidimus/kit/errors";
import { setTimeout as pause } from "node:timers/promises";
import { type Dictionary, wantedOf, type Write } from "./dictionary.ts";
import type { PhraseDraft } from "./phrase.ts";
import { planUpserts, type Stamps, type UpsertPlan } from "./plan-upserts.ts";

/** Each attempt that fails means that somebody else's write went through. */
const attemptsMax = 100;

/** Upserts the drafts: decides on what stands, writes, and decides again if that has changed in between. With conflicts, writes nothing. */
export function settle(
  dictionary: Pick<Dictionary, "find">,
  tenantId: string,
  drafts: readonly PhraseDraft[],
  stamps: Stamps,
  write: Write,
): Promise<UpsertPlan> {
  return repeated(async () => {
    const plan = planUpserts(drafts, await dictionary.find(tenantId, wantedOf(drafts)), stamps);
    const done = plan.conflicts.length > 0 || plan.writes.length === 0 || (await write(plan.writes));
    return done ? plan : undefined;
  });
}

/** Deletes a phrase; false when there is none with that id. */
export function remove(
  dictionary: Pick<Dictionary, "find" | "change">,
  tenantId: string,
  id: string,
): Promise<boolean> {
  return dictionary.change(tenantId, (write) =>
    repeated(async () => {
      const [standing] = await dictionary.find(tenantId, { ids: [id], keys: [] });
      if (!standing) return false;
      return (await write([{ kind: "delete", standing }])) ? true : undefined;
    }),
  );
}

async function repeated<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < attemptsMax; tries += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    // What refused the write is seen by the next reading only once a majority holds it.
    await pause(1 + Math.random() * 10);
  }
  throw new DomainError("unavailable", "too many changes of this dictionary at once");
}
