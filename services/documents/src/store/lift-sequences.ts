import { ConfigError } from "@vidimus/kit/env";
import type { RestoredSnapshots } from "./restored-snapshots.ts";
import type { SequenceFloor } from "./sequence-floor.ts";

interface LiftDeps {
  readonly snapshots: Pick<RestoredSnapshots, "highestSequence" | "pendingBelow" | "renumber">;
  readonly floor: Pick<SequenceFloor, "read" | "raise">;
}

interface LiftOptions {
  readonly above: number;
  /**
   * Also renumbers pending snapshots, which may have been signed and sent between the backup and
   * the restore.
   */
  readonly renumberPending: boolean;
  readonly dryRun: boolean;
}

/**
 * Raises the floor to `above`, so that later snapshots of all documents get sequences above it. No
 * documents process may run. After an interruption run it again: it continues where it stopped, and
 * a second run with the same number changes nothing.
 *
 * @returns a report in words
 * @throws ConfigError when a document's sequence is higher than `above` already, unless an earlier
 * run has lifted as far
 */
export async function liftSequences(
  { snapshots, floor }: LiftDeps,
  { above, renumberPending, dryRun }: LiftOptions,
): Promise<string> {
  const before = await floor.read();
  const highest = await snapshots.highestSequence();
  if (before < above && highest > above) {
    throw new ConfigError(`--above must be ${highest} at least: a document has reached it`);
  }
  const reached = Math.max(before, above);
  const pending = renumberPending ? await snapshots.pendingBelow(reached) : [];
  const lifts = before >= above ? `was lifted above ${before} before` : `new snapshots are numbered above ${above}`;
  if (dryRun) {
    return `nothing was changed; without --dry-run: ${lifts}; pending snapshots of ${pending.length} documents renumbered`;
  }
  await floor.raise(above);
  let count = 0;
  for (const lowest of pending) count += await snapshots.renumber(lowest, reached);
  return `${lifts}; ${count} snapshots of ${pending.length} documents renumbered`;
}
