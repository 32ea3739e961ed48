import { parseUuid } from "@vidimus/kit/uuid";
import type { PageRequest, PublishedFilter } from "./published-page.ts";

/** What it takes to know what a slug or an id in a filter stands for. */
export interface FilterDeps {
  /** Id of the document that has a slug, or had it last. */
  findSlug(tenantId: string, type: string, slug: string): Promise<string | undefined>;
  /** Slug of a published document. */
  slugOf(tenantId: string, documentId: string): Promise<string | undefined>;
}

/** Turns a caller's criteria into what publications are indexed by; undefined when nothing can meet them. */
export async function resolveFilter(
  deps: FilterDeps,
  tenantId: string,
  { tag, site, language, slug }: PageRequest["filter"],
): Promise<PublishedFilter | undefined> {
  const tagId = tag === "" ? undefined : (parseUuid(tag) ?? (await deps.findSlug(tenantId, "core/tag", tag)));
  if (tag !== "" && tagId === undefined) return undefined;
  return {
    ...(tagId === undefined ? {} : { tag: tagId }),
    ...(site === "" ? {} : { sites: await namesOfSite(deps, tenantId, site) }),
    ...(language === "" ? {} : { language: language.toLowerCase() }),
    ...(slug === "" ? {} : { slug }),
  };
}

/** Documents name their sites by id or by slug. */
async function namesOfSite(deps: FilterDeps, tenantId: string, site: string): Promise<string[]> {
  const id = parseUuid(site);
  const other = id ? deps.slugOf(tenantId, id) : deps.findSlug(tenantId, "core/publisher-site", site);
  return [id ?? site, ...[(await other) ?? []].flat()];
}
