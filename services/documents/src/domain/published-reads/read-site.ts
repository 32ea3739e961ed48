import { matchesEntityTag } from "@vidimus/kit/entity-tags";
import { DomainError } from "@vidimus/kit/errors";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { pageEtag } from "./page-etag.ts";
import { normalHost } from "../sites/host-name.ts";
import type { VisibleDocument } from "./published-document.ts";

export interface GetPublishedSiteDeps {
  readonly publications: {
    findSiteOf(tenantId: string, host: string, signal: AbortSignal): Promise<VisibleDocument | undefined>;
    /** The primary published site, or the only one. */
    findMainSite(tenantId: string, signal: AbortSignal): Promise<VisibleDocument | undefined>;
  };
}

interface SiteAnswer {
  readonly siteJson: Uint8Array;
  readonly etag: string;
  readonly notModified: boolean;
}

/**
 * Reads the published site of a host, or for the host "" that of `findMainSite`. Throws `not_found`
 * when there is none.
 */
export async function readSite(
  deps: GetPublishedSiteDeps,
  tenantId: string,
  request: { readonly host: string; readonly ifNoneMatch: string },
  signal: AbortSignal,
): Promise<SiteAnswer> {
  const site = await findSite(deps, tenantId, request.host, signal);
  if (!site) {
    const reason = request.host === "" ? "no published site is the primary one" : "no site has that host";
    throw new DomainError("not_found", reason);
  }
  const etag = pageEtag(site.updatedAt, [site.documentId, site.sequence]);
  if (matchesEntityTag(request.ifNoneMatch, etag)) return { siteJson: new Uint8Array(), etag, notModified: true };
  return { siteJson: flatten(parse(site)), etag, notModified: false };
}

async function findSite(
  { publications }: GetPublishedSiteDeps,
  tenantId: string,
  asked: string,
  signal: AbortSignal,
): Promise<VisibleDocument | undefined> {
  if (asked === "") return publications.findMainSite(tenantId, signal);
  const host = normalHost(asked);
  return host === undefined ? undefined : publications.findSiteOf(tenantId, host, signal);
}

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
