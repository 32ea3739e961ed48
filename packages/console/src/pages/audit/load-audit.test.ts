import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AuditEntry, AuditEntrySchema } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { uuidv7 } from "@vidimus/kit/ids";
import { decodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { expect, it } from "vitest";
import type { TenantCall } from "../../http/route.ts";
import { type AuditQuery, type AuditRequest, queryAfter, readAuditQuery } from "./audit-query.ts";
import { loadAudit, type LoadAuditDeps } from "./load-audit.ts";

const call = { tenant: { tenantId: "demo" }, rpc: {} } as TenantCall;
const at = timestampFromDate(new Date(Date.UTC(2026, 10, 26)));

/** Entries of one millisecond, newest first, as the services keep them. */
const stored = Array.from({ length: 220 }, () => create(AuditEntrySchema, { at, entryId: uuidv7() })).toReversed();

function serviceWith(isKept: (position: number) => boolean) {
  const own = stored.filter((_, position) => isKept(position));
  const listAuditEntries = async ({ limit, pageToken }: AuditRequest) => {
    const [after] = decodeOpaqueToken(pageToken) ?? [];
    const isOlder = ({ entryId }: AuditEntry) => after === undefined || entryId < String(after);
    return { entries: own.filter(isOlder).slice(0, limit) };
  };
  return { listAuditEntries };
}

const deps = {
  access: serviceWith((position) => position % 3 !== 0),
  endpoints: serviceWith((position) => position % 3 === 0 && position !== 60),
  schemas: serviceWith((position) => position === 60),
} as unknown as LoadAuditDeps;

it("the pages show each of 220 audit entries of the same millisecond once", async () => {
  const pages: string[][] = [];
  let query: AuditQuery | undefined = readAuditQuery(new URLSearchParams());
  while (query && pages.length < 10) {
    const { entries, next } = await loadAudit(deps, query, call);
    pages.push(entries.map(({ entryId }) => entryId));
    query = next && readAuditQuery(new URLSearchParams(queryAfter(next)));
  }
  expect(pages.map(({ length }) => length)).toEqual([50, 50, 50, 50, 20]);
  expect(pages.flat()).toEqual(stored.map(({ entryId }) => entryId));
});
