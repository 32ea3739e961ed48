import type { Outcome, UpsertPlan } from "../plan-upserts.ts";

/** Numbers of phrases, not of rows, by outcome. */
interface ImportCounts {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
}

/**
 * Counts what an import does to its phrases. A phrase of several rows counts once, by the first row
 * that creates or changes it, also when a later row changes it back.
 */
export class ImportTally {
  readonly #outcomes = new Map<string, Outcome>();

  /** Ids of all phrases of the import, each once, unchanged ones, too. */
  get ids(): Iterable<string> {
    return this.#outcomes.keys();
  }

  add({ phrases, outcomes }: Pick<UpsertPlan, "phrases" | "outcomes">): void {
    for (const [index, { id }] of phrases.entries()) {
      const before = this.#outcomes.get(id) ?? "unchanged";
      this.#outcomes.set(id, before === "unchanged" ? (outcomes[index] ?? before) : before);
    }
  }

  counts(): ImportCounts {
    const counts = { created: 0, changed: 0, unchanged: 0 };
    for (const outcome of this.#outcomes.values()) counts[outcome] += 1;
    return counts;
  }
}
