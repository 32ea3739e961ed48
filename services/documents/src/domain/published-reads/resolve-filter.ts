import { parseUuid } from "@vidimus/kit/ids";
import { type FilterName, filterNames, keyNamed, mapFilters } from "./publication-keys.ts";
import type { Moment } from "./tenant-clock.ts";

/** Criteria as a caller names them; undefined for absent ones. */
export type RequestedFilter = Readonly<Record<FilterName, string | undefined>>;

/**
 * Criteria in the form in which publications are indexed. A document matches when it has the value,
 * or one of the values, of every criterion that is set.
 */
export type PublishedFilter = Readonly<Record<FilterName, string | readonly string[] | undefined>>;

export interface SlugReader {
  /** Id of the document that has a slug, or had it last. */
  findDocument(tenantId: string, type: string, slug: string, moment?: Moment): Promise<string | undefined>;
}

export interface FilterDeps {
  readonly slugs: SlugReader;
  readonly publications: {
    /** The slug of a published document; undefined when it has none or is not published. */
    slugOf(tenantId: string, type: string, documentId: string, moment?: Moment): Promise<string | undefined>;
  };
}

/**
 * Types whose publications can change which documents a filter matches. A slug in the filter may
 * pass to another document. An id adds its type only if publications may hold the slug in its place
 * (`bySlug`), because that slug may change.
 */
export function typesConsulted(filter: RequestedFilter): string[] {
  return filterNames.flatMap((name) => {
    const { refersTo } = keyNamed(name);
    const asked = filter[name];
    if (!refersTo || asked === undefined) return [];
    return refersTo.bySlug || parseUuid(asked) === undefined ? [refersTo.type] : [];
  });
}

/** Translates a caller's criteria; undefined when no document can match them. */
export async function resolveFilter(
  deps: FilterDeps,
  tenantId: string,
  requested: RequestedFilter,
  moment: Moment | undefined,
): Promise<PublishedFilter | undefined> {
  const values = new Map<FilterName, string | readonly string[]>();
  for (const name of filterNames) {
    const asked = requested[name];
    if (asked === undefined) continue;
    const { refersTo, normalize } = keyNamed(name);
    const value = refersTo ? await namesOf(deps, tenantId, refersTo, asked, moment) : normalize(asked);
    if (value.length === 0) return undefined;
    values.set(name, value);
  }
  return mapFilters((name) => values.get(name));
}

/**
 * The values that publications may hold for a document named by id or slug. Empty only when the
 * caller asks for a slug that no document has or had, and publications hold only ids.
 */
async function namesOf(
  deps: FilterDeps,
  tenantId: string,
  { type, bySlug }: { readonly type: string; readonly bySlug: boolean },
  asked: string,
  moment: Moment | undefined,
): Promise<readonly string[]> {
  const id = parseUuid(asked);
  if (id !== undefined && !bySlug) return [id];
  const other = id
    ? await deps.publications.slugOf(tenantId, type, id, moment)
    : await deps.slugs.findDocument(tenantId, type, asked, moment);
  const found = other === undefined ? [] : [other];
  return bySlug ? [id ?? asked, ...found] : found;
}
