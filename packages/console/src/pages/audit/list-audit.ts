import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls, MemberCalls } from "../../rpc/called-methods.ts";
import { type EndpointNames, endpointNames } from "../endpoints/read-endpoint.ts";
import { type ActorNames, actorNames } from "../parts/actor.ts";
import { dataTable } from "../parts/data-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import { filterForm } from "../parts/filter-form.ts";
import { selectField, textField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { pageHead } from "../parts/page-head.ts";
import { partOf, serviceDown } from "../parts/service-down.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { auditColumns } from "./audit-columns.ts";
import { auditKinds } from "./audit-kinds.ts";
import { type AuditQuery, queryAfter, readAuditQuery } from "./audit-query.ts";
import { type AuditPage, loadAudit, type LoadAuditDeps } from "./load-audit.ts";

interface ListAuditDeps extends LoadAuditDeps {
  readonly members: Pick<MemberCalls, "listMembers">;
  readonly endpoints: Pick<EndpointCalls, "listAuditEntries" | "listEndpoints">;
}

interface Audit extends AuditPage {
  readonly query: AuditQuery;
  readonly people: ActorNames;
  /** Empty while delivery is down. */
  readonly endpoints: EndpointNames;
}

/** Most people in the list of a filter. With more, the page could weigh over 40 kB with gzip. */
const choicesMax = 200;

/** `GET /t/{tenant}/audit`: the audit logs of the services as one list, newest first. */
export function listAudit(deps: ListAuditDeps): TenantRoute {
  return tenantPage({
    path: "/audit",
    right: "audit",
    load: async (call): Promise<Audit> => {
      const query = readAuditQuery(call.query);
      const [page, people, endpoints] = await Promise.all([
        loadAudit(deps, query, call),
        actorNames(deps.members, call, call.rpc),
        partOf(call, "delivery", endpointNames(deps.endpoints, call)),
      ]);
      return { ...page, query, people, endpoints: "value" in endpoints ? endpoints.value : new Map() };
    },
    view: (data, call) => ({ title: "Audit", main: auditPage(data, call) }),
  });
}

const lead =
  "Who changed keys, members, endpoints, schemas and workflows, and when. Nothing here is ever changed or removed. What editors do with documents is in the history of each document. Changes of phrases are not logged.";

function auditPage(data: Audit, call: TenantCall): Html {
  const { entries, down, query } = data;
  const first = query.position?.first ?? 1;
  const last = first + entries.length - 1;
  const range = first === 1 && !data.next ? count(entries.length) : `Changes ${first} to ${last}`;
  const more = data.next ? "; there are more" : "";
  return html`${pageHead({ title: "Audit", lead })} ${filters(data, call)} ${down.map(serviceDown)}
  ${
    entries.length === 0
      ? emptyState("Nothing was changed that these filters show.", html`<a href="${call.at("/audit")}">Show all</a>.`)
      : dataTable({ caption: `${range}, newest first${more}`, columns: auditColumns(data, call), rows: entries })
  }
  ${pages(data, call)}`;
}

function count(entries: number): string {
  return entries === 1 ? "1 change" : `${entries} changes`;
}

function filters({ query, people }: Audit, { at }: TenantCall): Html {
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
    actorField(query.actor, people),
    textField({ name: "from", label: "From (UTC)", type: "date", value: query.from, isOptional: true }),
    textField({ name: "to", label: "To", type: "date", value: query.to, isOptional: true }),
  ]);
}

function actorField(value: string, people: ActorNames): Html {
  const field = { name: "actor", label: "By", value };
  if (people.size > choicesMax) return textField({ ...field, hint: "Choose one in the column Who.", isOptional: true });
  const other = value === "" || people.has(value) ? [] : [{ value, label: value }];
  const named = Array.from(people, ([id, label]) => ({ value: id, label }));
  return selectField({ ...field, choices: [{ value: "", label: "anybody" }, ...other, ...named] });
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
