import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { AccessCalls } from "../../rpc/called-methods.ts";
import { confirmPage } from "../parts/confirm.ts";
import { type Html, html } from "../../markup/html.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { timeAgo } from "../parts/times.ts";
import { readKey } from "./show-key.ts";

const path = "/keys/:key/revoke";

export function askToRevokeKey({ access }: { readonly access: Pick<AccessCalls, "getApiKey"> }): TenantRoute {
  return tenantPage({
    path,
    right: "keys",
    load: (call) => readKey(access, call),
    view: (key, call) => ({ title: "Revoke a key", main: revokeForm(key, call) }),
  });
}

/** `POST /t/{tenant}/keys/{key}/revoke`: ends a key. Repeating it changes nothing. */
export function revokeKey({ access }: { readonly access: Pick<AccessCalls, "revokeApiKey"> }): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "keys",
    handle: async ({ tenant: { tenantId }, params, rpc, at }) => {
      await access.revokeApiKey({ tenantId, keyId: params["key"] ?? "" }, rpc);
      return { to: at("/keys?done=revoked") };
    },
  };
}

function revokeForm({ keyId, name, prefix, lastUsedAt }: ApiKey, { at, now }: TenantCall): Html {
  const used = lastUsedAt
    ? html`It was last used ${timeAgo(timestampDate(lastUsedAt), now)}.`
    : "No use of it is known; the last minute is not counted yet.";
  return confirmPage({
    title: html`Revoke “<bdi>${name}</bdi>”?`,
    consequence: html`Within a second every call with <code>vk_${prefix}_…</code> is refused, and this cannot be undone.
      ${used}`,
    action: at(`/keys/${keyId}/revoke`),
    button: "Revoke the key",
    isDanger: true,
    back: at(`/keys/${keyId}`),
  });
}
