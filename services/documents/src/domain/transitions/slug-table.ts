import type { Slug } from "./changes.ts";

/**
 * The slugs of published documents as they will be after the commit: each belongs to at most one
 * document of its type.
 */
export class SlugTable {
  readonly #holders = new Map<string, Slug>();
  readonly #retired: Slug[] = [];

  /** @param held slugs of published documents, among them all slugs of the documents that change */
  constructor(held: readonly Slug[]) {
    for (const slug of held) this.#holders.set(keyOf(slug), slug);
  }

  /** Id of another published document that has the slug; undefined when the table has none. */
  holder(type: string, slug: string, documentId: string): string | undefined {
    const holder = this.#holders.get(keyOf({ type, slug }))?.documentId;
    return holder === documentId ? undefined : holder;
  }

  /** Replaces a document's slug; `undefined` removes it. */
  claim(type: string, slug: string | undefined, documentId: string): void {
    for (const held of this.#holders.values()) {
      if (held.documentId !== documentId || (held.type === type && held.slug === slug)) continue;
      this.#holders.delete(keyOf(held));
      this.#retired.push(held);
    }
    if (slug !== undefined) this.#holders.set(keyOf({ type, slug }), { type, slug, documentId });
  }

  retired(): readonly Slug[] {
    return this.#retired;
  }
}

function keyOf({ type, slug }: Pick<Slug, "type" | "slug">): string {
  return `${type}\n${slug}`;
}
