import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { AuditEntry } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import type { TenantCall } from "../../http/route.ts";
import { stateInWords } from "../deliveries/delivery-state.ts";
import type { EndpointNames } from "../endpoints/read-endpoint.ts";
import { type ActorNames, actorName } from "../parts/actor.ts";
import type { Column } from "../parts/data-table.ts";
import { type Content, type Html, html } from "../../markup/html.ts";
import { timeAgo } from "../parts/times.ts";
import { actionInWords, auditKinds } from "./audit-kinds.ts";

interface AuditNames {
  readonly people: ActorNames;
  readonly endpoints: EndpointNames;
}

export function auditColumns(names: AuditNames, call: TenantCall): Column<AuditEntry>[] {
  return [
    { label: "When", cell: ({ at }) => at && timeAgo(timestampDate(at), call.now) },
    {
      label: "Who",
      cell: ({ actor }) =>
        html`<a href="${call.at("/audit")}?${query({ actor })}">${actorName(names.people, actor)}</a>`,
    },
    { label: "What", cell: ({ action }) => actionInWords(action) },
    { label: "Which", cell: (entry) => subjectOf(entry, names, call) },
    { label: "Details", cell: (entry) => details(entry) },
  ];
}

function query(values: Readonly<Record<string, string>>): string {
  return new URLSearchParams(values).toString();
}

function subjectOf(entry: AuditEntry, { people, endpoints }: AuditNames, { at }: TenantCall): Html {
  const { action, subject } = entry;
  const detail = detailOf(entry);
  const text = (name: string) => (typeof detail[name] === "string" ? detail[name] : "");
  const endpoint = endpoints.get(subject);
  if (endpoint !== undefined) return html`<a href="${at(`/endpoints/${subject}`)}" dir="auto">${endpoint}</a>`;
  const list = action === "redeliver" ? "deliveries" : action.endsWith("_replay") ? "replays" : undefined;
  if (list) {
    const to = endpoints.get(text("endpointId"));
    const words = to === undefined ? html`<code>${subject}</code>` : html`to <bdi>${to}</bdi>`;
    return html`<a href="${at(`/${list}/${subject}`)}">${words}</a>`;
  }
  const name = text("name") || people.get(subject) || text("note");
  if (Object.hasOwn(auditKinds["keys"]?.actions ?? {}, action)) {
    const prefix = text("prefix") === "" ? subject : `vk_${text("prefix")}_…`;
    return html`<a href="${at(`/keys/${subject}`)}" dir="auto">${name || prefix}</a>`;
  }
  if (name) return html`<span dir="auto" title="${subject}">${name}</span>`;
  return html`<code class="q">${subject}</code>`;
}

/** The facts of an entry that the other columns shorten or leave out. */
function details(entry: AuditEntry): Html {
  const { at, role, identity, keyPrefix, fromAddress, requestId, subject } = entry;
  const facts: (readonly [string, string])[] = [
    ["time", at ? timestampDate(at).toISOString() : ""],
    ["id", subject],
    ...Object.entries(detailOf(entry)).map(([name, value]): [string, string] => [name, detailText(name, value)]),
    ["role", role],
    ["certificate", identity],
    ["API key", keyPrefix && `vk_${keyPrefix}_…`],
    ["address", fromAddress],
    ["request", requestId],
  ];
  const rows: Content = facts
    .filter(([, value]) => value !== "")
    .map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd dir="auto">${value}</dd>
        </div>`,
    );
  return html`<details class="small">
    <summary>Show</summary>
    <dl>${rows}</dl>
  </details>`;
}

function detailText(name: string, value: unknown): string {
  // What a started replay selects: states of deliveries, or `missing`, see `stateInWords`.
  if (name === "states" && Array.isArray(value)) return value.map((state) => stateInWords(String(state))).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The details of an entry, which are a JSON object; empty when they are malformed. */
function detailOf({ detailJson }: AuditEntry): Readonly<Record<string, unknown>> {
  try {
    const detail: unknown = JSON.parse(Buffer.from(detailJson).toString());
    return typeof detail === "object" && detail !== null ? { ...detail } : {};
  } catch {
    return {};
  }
}
