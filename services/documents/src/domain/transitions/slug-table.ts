import type { Slug, SlugChange } from "./changes.ts";

/**
 * The slugs of a transaction, as they will be when it commits: each is held by at most one
 * published document of its type. A slug that is no longer current still finds its document, until
 * another document claims it.
 */
export class SlugTable {
  readonly #slugs = new Map<string, Slug>();
  readonly #known: ReadonlySet<string>;
  readonly #changed = new Map<string, Slug>();

  /** @param slugs all stored slugs among those that will be looked up */
  constructor(slugs: readonly Slug[]) {
    for (const slug of slugs) this.#slugs.set(keyOf(slug.type, slug.slug), slug);
    this.#known = new Set(this.#slugs.keys());
  }

  /** Id of the published document that has the slug, if it is another one. */
  holder(type: string, slug: string, documentId: string): string | undefined {
    const held = this.#slugs.get(keyOf(type, slug));
    return held?.current && held.documentId !== documentId ? held.documentId : undefined;
  }

  /** Makes a slug the document's only current one; `undefined` leaves it without one. */
  claim(type: string, slug: string | undefined, documentId: string): void {
    this.retire(documentId, slug);
    if (slug !== undefined) this.#put({ type, slug, documentId, current: true });
  }

  /** Ends all current slugs of a document except `kept`. */
  retire(documentId: string, kept?: string): void {
    for (const held of this.#slugs.values()) {
      if (held.documentId === documentId && held.current && held.slug !== kept) this.#put({ ...held, current: false });
    }
  }

  /** The slugs that were added or changed. */
  changes(): SlugChange[] {
    return Array.from(this.#changed, ([key, slug]) => Object.assign({ isNew: !this.#known.has(key) }, slug));
  }

  #put(slug: Slug): void {
    const key = keyOf(slug.type, slug.slug);
    const before = this.#slugs.get(key);
    if (before && before.documentId === slug.documentId && before.current === slug.current) return;
    this.#slugs.set(key, slug);
    this.#changed.set(key, slug);
  }
}

function keyOf(type: string, slug: string): string {
  return `${type}\n${slug}`;
}
