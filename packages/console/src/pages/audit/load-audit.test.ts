import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AuditEntrySchema } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { TenantCall } from "../../http/route.ts";
import { type AuditQuery, queryAfter, readAuditQuery } from "./audit-query.ts";
import { loadAudit, type LoadAuditDeps } from "./load-audit.ts";

const call = { tenant: { tenantId: "demo" }, rpc: {} } as TenantCall;
const begin = Date.UTC(2026, 10, 26);

/** The time of the entry at a position of the list: those at 40 to 69 have the same millisecond. */
const timeOf = (at: number) => begin - (at < 40 || at >= 70 ? at : 40);

/** Entries, newest first, as the services keep them. */
const stored = Array.from({ length: 120 }, (_, at) => ({ at: timeOf(at), entryId: randomUUID() }))
  .toSorted((a, b) => b.at - a.at || (a.entryId < b.entryId ? 1 : -1))
  .map(({ at, entryId }) => create(AuditEntrySchema, { at: timestampFromDate(new Date(at)), entryId }));

function serviceWith(isKept: (at: number) => boolean) {
  const own = stored.filter((_, at) => isKept(at));
  const listAuditEntries = async ({ until, limit }: { readonly until?: Timestamp; readonly limit: number }) => {
    const end = until ? timestampDate(until) : new Date(begin + 1);
    return { entries: own.filter(({ at }) => at && timestampDate(at) < end).slice(0, limit) };
  };
  return { listAuditEntries };
}

const deps = {
  access: serviceWith((at) => at !== 5 && at !== 60),
  endpoints: serviceWith((at) => at === 5),
  schemas: serviceWith((at) => at === 60),
} as unknown as LoadAuditDeps;

it("the pages show each change of every service once, also when many have the same millisecond", async () => {
  const pages: string[][] = [];
  let query: AuditQuery | undefined = readAuditQuery(new URLSearchParams());
  while (query && pages.length < 4) {
    const { entries, next } = await loadAudit(deps, query, call);
    pages.push(entries.map(({ entryId }) => entryId));
    query = next && readAuditQuery(new URLSearchParams(queryAfter(next)));
  }
  expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
  expect(pages.flat()).toEqual(stored.map(({ entryId }) => entryId));
});
