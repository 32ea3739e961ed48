import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import { type ActorNames, actorNames } from "../parts/actor.ts";
import { dataTable } from "../parts/data-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import { filterForm } from "../parts/filter-form.ts";
import { selectField, textField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { pageHead } from "../parts/page-head.ts";
import { serviceDown } from "../parts/service-down.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { auditColumns } from "./audit-columns.ts";
import { auditKinds } from "./audit-kinds.ts";
import { type AuditQuery, queryAfter, readAuditQuery } from "./audit-query.ts";
import { type AuditPage, loadAudit, type LoadAuditDeps } from "./load-audit.ts";

interface ListAuditDeps extends LoadAuditDeps {
  readonly members: Pick<MemberCalls, "listMembers">;
}

interface Audit extends AuditPage {
  readonly query: AuditQuery;
  readonly names: ActorNames;
}

/** `GET /t/{tenant}/audit`: changes of all services, newest first. */
export function listAudit(deps: ListAuditDeps): TenantRoute {
  return tenantPage({
    path: "/audit",
    right: "audit",
    load: async (call): Promise<Audit> => {
      const query = readAuditQuery(call.query);
      const [page, names] = await Promise.all([loadAudit(deps, query, call), actorNames(deps.members, call, call.rpc)]);
      return { ...page, query, names };
    },
    view: (data, call) => ({ title: "Audit", main: auditPage(data, call) }),
  });
}

const lead =
  "Who changed keys, members, endpoints, schemas and workflows, and when. Nothing here is ever changed or removed. What editors do with documents is in the history of each document.";

function auditPage(data: Audit, call: TenantCall): Html {
  const { entries, down, query, names } = data;
  const first = query.position?.first ?? 1;
  const last = first + entries.length - 1;
  const range = first === 1 && !data.next ? count(entries.length) : `Changes ${first} to ${last}`;
  const more = data.next ? "; there are more" : "";
  return html`${pageHead({ title: "Audit", lead })} ${filters(data, call)} ${down.map(serviceDown)}
  ${
    entries.length === 0
      ? emptyState("Nothing was changed that these filters show.", html`<a href="${call.at("/audit")}">Show all</a>.`)
      : dataTable({ caption: `${range}, newest first${more}`, columns: auditColumns(names, call), rows: entries })
  }
  ${pages(data, call)}`;
}

function count(entries: number): string {
  return entries === 1 ? "1 change" : `${entries} changes`;
}

function filters({ query, names }: Audit, { at }: TenantCall): Html {
  const people = Array.from(names, ([value, label]) => ({ value, label }));
  const other = query.actor === "" || names.has(query.actor) ? [] : [{ value: query.actor, label: query.actor }];
  return filterForm(at("/audit"), [
    selectField({
      name: "kind",
      label: "What",
      value: query.kind,
      choices: [
        { value: "", label: "everything" },
        ...Object.entries(auditKinds).map(([value, { label }]) => ({ value, label })),
      ],
    }),
    selectField({
      name: "actor",
      label: "By",
      value: query.actor,
      choices: [{ value: "", label: "anybody" }, ...other, ...people],
    }),
    textField({ name: "from", label: "From (UTC)", type: "date", value: query.from, isOptional: true }),
    textField({ name: "to", label: "To", type: "date", value: query.to, isOptional: true }),
  ]);
}

function pages({ query, next }: Audit, { at }: TenantCall): Html | undefined {
  if (!query.position && !next) return undefined;
  const { actor, kind, from, to } = query;
  const narrowed = Object.entries({ kind, actor, from, to }).filter(([, value]) => value !== "");
  const link = (parameters: Readonly<Record<string, string>>) =>
    `${at("/audit")}?${new URLSearchParams([...narrowed, ...Object.entries(parameters)])}`;
  return html`<nav class="pager" aria-label="Pages">
    ${query.position && html`<a class="button" href="${link({})}">To the newest</a>`}
    ${next && html`<a class="button" href="${link(queryAfter(next))}" rel="next">Older</a>`}
  </nav>`;
}
