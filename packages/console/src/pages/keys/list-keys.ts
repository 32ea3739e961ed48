import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { AccessCalls, MemberCalls } from "../../rpc/called-methods.ts";
import { type ActorNames, actorName, actorNames } from "../parts/actor.ts";
import { type Column, dataTable } from "../parts/data-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import { filterForm } from "../parts/filter-form.ts";
import { selectField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { caption, pager, type PagePosition, positionOf } from "../parts/pager.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { timeAgo } from "../parts/times.ts";
import { isLive, keyState } from "./key-state.ts";
import { scopeList } from "./scope-list.ts";

export interface ListKeysDeps {
  readonly access: Pick<AccessCalls, "listApiKeys">;
  readonly members: Pick<MemberCalls, "listMembers">;
}

interface Keys extends PagePosition {
  readonly keys: readonly ApiKey[];
  readonly nextPageToken: string;
  readonly names: ActorNames;
  readonly isAll: boolean;
}

const pageRows = 50;

/**
 * `GET /t/{tenant}/keys`: the valid keys. With `?state=all` also those that were revoked or have
 * expired.
 */
export function listKeys({ access, members }: ListKeysDeps): TenantRoute {
  return tenantPage({
    path: "/keys",
    right: "keys",
    load: async (call): Promise<Keys> => {
      const position = positionOf(call.query);
      const isAll = call.query.get("state") === "all";
      const { tenantId } = call.tenant;
      const request = { tenantId, limit: pageRows, pageToken: position.pageToken, liveOnly: !isAll };
      const [{ apiKeys, nextPageToken }, names] = await Promise.all([
        access.listApiKeys(request, call.rpc),
        actorNames(members, call, call.rpc),
      ]);
      return { ...position, keys: apiKeys, nextPageToken, names, isAll };
    },
    view: (data, call) => ({ title: "API keys", main: keysPage(data, call) }),
  });
}

const lead =
  "A key belongs to this newsroom and shows its secret once, when it is made. Only its hash is kept: a lost key is rolled, not recovered. “Last used” may be a minute or two behind.";

const done = {
  revoked: "The key is revoked: it opens nothing any more.",
  scopes: "The scopes are changed.",
  stored: "The secret is not shown again. The key is in the list.",
};

function keysPage(data: Keys, call: TenantCall): Html {
  const { keys, isAll } = data;
  const page = { ...data, count: keys.length };
  return html`${doneNotice(call.query, done)}
  ${pageHead({ title: "API keys", lead, aside: linkButton("New key", call.at("/keys/new"), "primary") })}
  ${filterForm(call.at("/keys"), [
    selectField({
      name: "state",
      label: "State",
      value: isAll ? "all" : "",
      choices: [
        { value: "", label: "valid now" },
        { value: "all", label: "all, revoked and ended too" },
      ],
    }),
  ])}
  ${
    keys.length === 0
      ? emptyState(
          isAll ? "There are no keys." : "No key is valid now.",
          html`A program that pushes or reads needs one: <a href="${call.at("/keys/new")}">make a key</a>.`,
        )
      : dataTable({
          caption: caption(page, isAll ? "key" : "valid key", isAll ? "keys" : "valid keys", "newest first"),
          columns: columnsFor(data, call),
          rows: keys,
        })
  }
  ${pager(call.url, page)}`;
}

function columnsFor({ names }: Keys, { at, now }: TenantCall): Column<ApiKey>[] {
  return [
    {
      label: "Name",
      cell: ({ keyId, name, prefix }) =>
        html`<a href="${at(`/keys/${keyId}`)}" dir="auto">${name}</a><br /><code class="q">vk_${prefix}_…</code>`,
    },
    { label: "Scopes", cell: ({ scopes }) => scopeList(scopes) },
    {
      label: "Last used",
      cell: ({ lastUsedAt }) => (lastUsedAt ? timeAgo(timestampDate(lastUsedAt), now) : "never"),
    },
    { label: "Made by", cell: ({ createdBy }) => actorName(names, createdBy) },
    { label: "State", cell: (key) => html`${keyState(key, now)}<br /><small>${endOf(key, now)}</small>` },
    {
      label: "Change",
      isQuiet: true,
      cell: (key) => isLive(key, now) && changeLinks(key, at),
    },
  ];
}

/** A rolled key gets no link "Roll", because it cannot be rolled again. */
function changeLinks({ keyId, name, replacedBy }: ApiKey, at: TenantCall["at"]): Html {
  const roll = html`<a href="${at(`/keys/${keyId}/roll`)}" aria-label="Roll ${name}">Roll</a> · `;
  return html`<span class="links">
    ${replacedBy === "" && roll}<a href="${at(`/keys/${keyId}/revoke`)}" aria-label="Revoke ${name}">Revoke</a>
  </span>`;
}

function endOf(key: ApiKey, now: Date): Html | string {
  const { revokedAt, expiresAt } = key;
  if (revokedAt) return timeAgo(timestampDate(revokedAt), now);
  if (!expiresAt) return "never ends";
  const verb = isLive(key, now) ? "ends" : "ended";
  return html`<span class="whole">${verb} ${timeAgo(timestampDate(expiresAt), now)}</span>`;
}
