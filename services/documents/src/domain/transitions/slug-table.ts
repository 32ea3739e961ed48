import type { Slug } from "./changes.ts";

/**
 * The slugs that published documents hold, as they will be when the transaction commits: each is
 * held by at most one document of its type.
 */
export class SlugTable {
  readonly #holders = new Map<string, Slug>();
  readonly #retired: Slug[] = [];

  /** @param held slugs of published documents, among them those of all that will change */
  constructor(held: readonly Slug[]) {
    for (const slug of held) this.#holders.set(keyOf(slug), slug);
  }

  /** Id of the published document that has the slug, if it is another one. */
  holder(type: string, slug: string, documentId: string): string | undefined {
    const holder = this.#holders.get(keyOf({ type, slug }))?.documentId;
    return holder === documentId ? undefined : holder;
  }

  /** Gives a document a slug in place of the one that it has; `undefined` leaves it without one. */
  claim(type: string, slug: string | undefined, documentId: string): void {
    for (const held of this.#holders.values()) {
      if (held.documentId !== documentId || (held.type === type && held.slug === slug)) continue;
      this.#holders.delete(keyOf(held));
      this.#retired.push(held);
    }
    if (slug !== undefined) this.#holders.set(keyOf({ type, slug }), { type, slug, documentId });
  }

  /** The slugs that their documents have lost, in order. */
  retired(): readonly Slug[] {
    return this.#retired;
  }
}

function keyOf({ type, slug }: Pick<Slug, "type" | "slug">): string {
  return `${type}\n${slug}`;
}
