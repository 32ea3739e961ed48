import type { PhraseDraft } from "../phrase.ts";

/**
 * Characters after which a batch ends; about 300 of the shortest drafts. Larger batches survive
 * collections of the young generation while they are written: with four times as many characters
 * the process grew by another 40 MiB.
 */
const batchCharsMax = 32 * 1024;

/**
 * Drafts of an import, kept as JSON text, one line each, because objects took up to seven times the
 * memory.
 *
 * The lines of a batch are joined without brackets around them and are parsed one by one. Brackets
 * would take a template string, which V8 keeps as a tree and `JSON.parse` copies into the old
 * generation: 20 MiB of each large import.
 */
export class PackedDrafts {
  readonly #batches: string[] = [];
  #texts: string[] = [];
  #chars = 0;
  #count = 0;
  #withIds = false;

  get count(): number {
    return this.#count;
  }

  get withIds(): boolean {
    return this.#withIds;
  }

  add(draft: PhraseDraft): void {
    const text = JSON.stringify(draft);
    this.#texts.push(text);
    this.#chars += text.length;
    this.#count += 1;
    this.#withIds ||= draft.id !== undefined;
    if (this.#chars >= batchCharsMax) this.#pack();
  }

  /** The drafts in order, in batches. May be called again. */
  *batches(): Generator<readonly PhraseDraft[]> {
    this.#pack();
    for (const lines of this.#batches) yield lines.split("\n").map((line) => JSON.parse(line) as PhraseDraft);
  }

  #pack(): void {
    if (this.#texts.length > 0) this.#batches.push(this.#texts.join("\n"));
    this.#texts = [];
    this.#chars = 0;
  }
}
