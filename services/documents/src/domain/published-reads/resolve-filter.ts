import { parseUuid } from "@vidimus/kit/ids";
import type { Moment } from "./tenant-clock.ts";

/** Criteria as a caller names them; "" for none. */
export interface RequestedFilter {
  /** Id or slug of a tag. */
  readonly tag: string;
  /** Id or slug of a site. */
  readonly site: string;
  /** In any case. */
  readonly language: string;
  readonly slug: string;
}

/** Criteria as publications are indexed; a document meets all of them. */
export interface PublishedFilter {
  /** Id of a linked tag. */
  readonly tag?: string;
  /** Id and slug of a site; the document names either. */
  readonly sites?: readonly string[];
  /** Lowercase. */
  readonly language?: string;
  readonly slug?: string;
}

/** Finds documents by slugs. */
export interface SlugReader {
  /** Id of the document that has a slug, or had it last. */
  findDocument(tenantId: string, type: string, slug: string, moment?: Moment): Promise<string | undefined>;
}

/** Stores that translate between slugs and ids. */
export interface FilterDeps {
  readonly slugs: SlugReader;
  readonly publications: {
    /** Slug that a document of a type is published under. */
    slugOf(tenantId: string, type: string, documentId: string, moment?: Moment): Promise<string | undefined>;
  };
}

const tagType = "core/tag";
const siteType = "core/publisher-site";

/**
 * Types whose publications change the result of a filter: a slug may pass to another tag or site,
 * and a site that is named by its id is looked up by its slug, too. A tag's id always means the
 * same tag.
 */
export function typesConsulted({ tag, site }: RequestedFilter): string[] {
  const isTagSlug = tag !== "" && parseUuid(tag) === undefined;
  return [...(isTagSlug ? [tagType] : []), ...(site === "" ? [] : [siteType])];
}

/** Translates a caller's criteria; undefined when no document can meet them. */
export async function resolveFilter(
  deps: FilterDeps,
  tenantId: string,
  { tag, site, language, slug }: RequestedFilter,
  moment: Moment | undefined,
): Promise<PublishedFilter | undefined> {
  const tagId =
    tag === "" ? undefined : (parseUuid(tag) ?? (await deps.slugs.findDocument(tenantId, tagType, tag, moment)));
  if (tag !== "" && tagId === undefined) return undefined;
  return {
    ...(tagId === undefined ? {} : { tag: tagId }),
    ...(site === "" ? {} : { sites: await namesOfSite(deps, tenantId, site, moment) }),
    ...(language === "" ? {} : { language: language.toLowerCase() }),
    ...(slug === "" ? {} : { slug }),
  };
}

/** Documents name their sites by id or by slug. */
async function namesOfSite(
  deps: FilterDeps,
  tenantId: string,
  site: string,
  moment: Moment | undefined,
): Promise<string[]> {
  const id = parseUuid(site);
  const other = id
    ? deps.publications.slugOf(tenantId, siteType, id, moment)
    : deps.slugs.findDocument(tenantId, siteType, site, moment);
  return [id ?? site, ...[(await other) ?? []].flat()];
}
