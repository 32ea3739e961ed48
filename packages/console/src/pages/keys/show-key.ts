import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { AccessCalls, MemberCalls } from "../../rpc/called-methods.ts";
import { type ActorNames, actorName, actorNames } from "../parts/actor.ts";
import { type Content, type Html, html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { instant } from "../parts/times.ts";
import { isLive, keyState } from "./key-state.ts";
import { scopeList } from "./scope-list.ts";

interface ShowKeyDeps {
  readonly access: Pick<AccessCalls, "getApiKey">;
  readonly members: Pick<MemberCalls, "listMembers">;
}

export function showKey({ access, members }: ShowKeyDeps): TenantRoute {
  return tenantPage({
    path: "/keys/:key",
    right: "keys",
    load: async (call) => {
      const [key, names] = await Promise.all([readKey(access, call), actorNames(members, call, call.rpc)]);
      return { key, names };
    },
    view: ({ key, names }, call) => ({ title: key.name, main: keyPage(key, names, call) }),
  });
}

/** The key that the URL names. NOT_FOUND when the tenant has no such key. */
export async function readKey(
  access: Pick<AccessCalls, "getApiKey">,
  { tenant: { tenantId }, params, rpc }: TenantCall,
): Promise<ApiKey> {
  const { apiKey } = await access.getApiKey({ tenantId, keyId: params["key"] ?? "" }, rpc);
  if (!apiKey) throw new Error("GetApiKey answered no key");
  return apiKey;
}

const done = { scopes: "The scopes are changed. Gateways hold to them within a second." };

function keyPage(key: ApiKey, names: ActorNames, { at, now, query }: TenantCall): Html {
  const { keyId, name, prefix, replacedBy } = key;
  return html`${doneNotice(query, done)}
    ${pageHead({ title: name, aside: keyState(key, now), above: { label: "API keys", href: at("/keys") } })}
    <p class="lead"><code>vk_${prefix}_…</code></p>
    ${
      isLive(key, now) &&
      html`<div class="actions">
        ${replacedBy === "" && linkButton("Roll", at(`/keys/${keyId}/roll`))}
        ${linkButton("Change scopes", at(`/keys/${keyId}/scopes`))}
        <a class="button danger" href="${at(`/keys/${keyId}/revoke`)}">Revoke</a>
      </div>`
    }
    <h2>What it is</h2>
    <dl>
      ${factsOf(key, names, at).map(
        ([label, value]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>`;
}

function factsOf(key: ApiKey, names: ActorNames, at: TenantCall["at"]): (readonly [string, Content])[] {
  const { keyId, scopes, createdBy, replacedBy, createdAt, lastUsedAt, expiresAt, revokedAt } = key;
  const time = (stamp: typeof createdAt, otherwise: string) => (stamp ? instant(timestampDate(stamp)) : otherwise);
  return [
    ["Scopes", scopeList(scopes)],
    ["Made", html`${time(createdAt, "")} by ${actorName(names, createdBy)}`],
    ["Last used", html`${time(lastUsedAt, "never")} <small>(noted once a minute)</small>`],
    ["Ends", revokedAt ? html`revoked ${time(revokedAt, "")}` : time(expiresAt, "never")],
    ...(replacedBy === ""
      ? []
      : [["Rolled into", html`<a href="${at(`/keys/${replacedBy}`)}">a newer key</a>`] as const]),
    ["Id", html`<code>${keyId}</code>`],
  ];
}
