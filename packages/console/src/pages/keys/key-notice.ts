import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall } from "../../http/route.ts";
import { type Html, html } from "../../markup/html.ts";
import { notice } from "../parts/notice.ts";
import { timeAgo } from "../parts/times.ts";

const weekMs = 7 * 86_400_000;

/**
 * Notes that a valid key expires within a week, or that it was made over a week ago and never used;
 * undefined for other keys. That a rolled key expires is not noted, because it is intended.
 */
export function keyNotice(key: ApiKey, { at, now }: TenantCall): Html | undefined {
  const { keyId, name, prefix, createdAt, expiresAt, lastUsedAt, replacedBy } = key;
  const which = html`“<bdi>${name}</bdi>” <code>vk_${prefix}_…</code>`;
  if (expiresAt && replacedBy === "" && timestampDate(expiresAt).getTime() - now.getTime() < weekMs) {
    const used = lastUsedAt ? html`was last used ${timeAgo(timestampDate(lastUsedAt), now)}` : "was never used";
    return notice(
      "wait",
      html`<b>A key ends ${timeAgo(timestampDate(expiresAt), now)}.</b> ${which} ${used}. Programs that use it are
        refused then. <a href="${at(`/keys/${keyId}/roll`)}">Roll the key</a>`,
    );
  }
  if (lastUsedAt || !createdAt || now.getTime() - timestampDate(createdAt).getTime() < weekMs) return undefined;
  return notice(
    "wait",
    html`<b>A key was never used.</b> ${which} was made ${timeAgo(timestampDate(createdAt), now)}. It stays valid until
      it ${expiresAt ? "ends" : "is revoked"}. <a href="${at(`/keys/${keyId}`)}">Look at the key</a>`,
  );
}
