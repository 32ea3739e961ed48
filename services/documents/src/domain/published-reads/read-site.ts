import { matchesEntityTag } from "@vidimus/kit/entity-tags";
import { DomainError } from "@vidimus/kit/errors";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { pageEtag } from "./page-etag.ts";
import type { VisibleDocument } from "./read-document.ts";

/** The store that sites are read from. */
export interface GetPublishedSiteDeps {
  readonly publications: {
    /** Published sites with a host, or all of them; newest first, at most 200. */
    findSites(tenantId: string, host: string | undefined, signal: AbortSignal): Promise<VisibleDocument[]>;
  };
}

/** One site's configuration. */
interface SiteAnswer {
  readonly siteJson: Uint8Array;
  readonly etag: string;
  readonly notModified: boolean;
}

/**
 * Reads the site of a host; of several that claim it, the one published last. Without a host it is
 * the one whose `meta.primary` is true, or the only one. Throws `not_found`.
 */
export async function readSite(
  deps: GetPublishedSiteDeps,
  tenantId: string,
  request: { readonly host: string; readonly ifNoneMatch: string },
  signal: AbortSignal,
): Promise<SiteAnswer> {
  const host = hostName(request.host);
  const sites = await deps.publications.findSites(tenantId, host === "" ? undefined : host, signal);
  const site = host === "" ? (sites.find(isPrimary) ?? (sites.length === 1 ? sites[0] : undefined)) : sites[0];
  if (!site) {
    throw new DomainError("not_found", host === "" ? "no published site is the primary one" : "no site has that host");
  }
  const etag = pageEtag(site.updatedAt, [site.documentId, site.sequence]);
  if (matchesEntityTag(request.ifNoneMatch, etag)) return { siteJson: new Uint8Array(), etag, notModified: true };
  return { siteJson: flatten(parse(site)), etag, notModified: false };
}

/** A host as it is indexed: lowercase, without a port and without the root's dot. */
function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
}

function isPrimary(site: VisibleDocument): boolean {
  return member(parse(site), "meta")["primary"] === true;
}

/**
 * `id`, `title` and `updated_at` take precedence over members of those names in `content` and
 * `meta`.
 */
function flatten(document: JsonObject): Buffer {
  const { id = null, title = null, updated_at = null } = document;
  return canonicalJson({ ...member(document, "content"), ...member(document, "meta"), id, title, updated_at });
}

function member(document: JsonObject, name: string): JsonObject {
  const value = document[name];
  return isJsonObject(value) ? value : {};
}

function parse({ bytes }: VisibleDocument): JsonObject {
  const value: JsonValue = JSON.parse(Buffer.from(bytes).toString());
  return isJsonObject(value) ? value : {};
}
