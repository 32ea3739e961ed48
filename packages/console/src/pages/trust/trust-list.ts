import type { TenantCall, TenantRoute } from "../../http/route.ts";
import { readTrustList, type ReadTrustList, type ReadTrustListDeps } from "../../rpc/read-trust-list.ts";
import type { TrustedKey, VerifiedTrustList } from "../../../../verify/src/verify.ts";
import { codeBlock } from "../parts/copyable.ts";
import { type Column, dataTable } from "../parts/data-table.ts";
import { type Html, html } from "../../markup/html.ts";
import { notice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { type Part, partOf, showPart } from "../parts/service-down.ts";
import { state } from "../parts/state.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { instant } from "../parts/times.ts";

interface GetTrustListDeps extends ReadTrustListDeps {
  /** Origin at which integrators reach the public API. */
  readonly apiOrigin: URL;
}

export function getTrustList(deps: GetTrustListDeps): TenantRoute {
  return tenantPage({
    path: "/trust-list",
    right: "member",
    load: (call) => partOf("gateway", readTrustList(deps, call)),
    view: (part, call) => ({ title: "Trust list", main: trustListPage(part, call, deps.apiOrigin) }),
  });
}

function trustListPage(part: Part<ReadTrustList>, call: TenantCall, apiOrigin: URL): Html {
  const code = `curl -si ${new URL("/api/keys", apiOrigin).href}`;
  return html`${pageHead({
      title: "Trust list",
      lead: "The public keys with which receivers verify snapshots, as the public API serves them to everybody.",
      aside: linkButton("Verify a webhook", call.at("/trust-list/verify"), "primary"),
    })}
    ${showPart(part, (read) => listOf(read, call.now))}
    <h2>Read it yourself</h2>
    ${codeBlock({ id: "curl", label: "Command that reads the trust list", code })}`;
}

function listOf(read: ReadTrustList, now: Date): Html {
  const { list, refusal = "" } = read;
  if (!list) {
    return html`${notice("bad", html`<b>Receivers refuse this list</b>: ${refusal}.`)}
    ${codeBlock({ id: "answer", label: "The body of the answer", code: read.answer.body })}`;
  }
  const caption = list.keys.length === 1 ? "1 key" : `${list.keys.length} keys`;
  const byStart = list.keys.toSorted((a, b) => (a.validFrom < b.validFrom ? 1 : -1));
  return html`${list.active === null && notice("wait", "Signing is off: deliveries wait, and none goes out unsigned.")}
    ${dataTable({ caption: `${caption}, newest first`, columns: columnsFor(list, now), rows: byStart })}
    <h2>Who states it</h2>
    ${statementOf(list, read)}`;
}

function columnsFor({ active }: VerifiedTrustList, now: Date): Column<TrustedKey>[] {
  return [
    { label: "Key", cell: ({ keyId }) => html`<code>${keyId}</code>` },
    { label: "State", cell: (key) => stateOf(key, active, now) },
    { label: "Signs from", cell: ({ validFrom }) => instant(new Date(validFrom)) },
    { label: "Until", cell: ({ validUntil }) => (validUntil === null ? "now" : instant(new Date(validUntil))) },
    {
      label: "Public key",
      cell: ({ publicKey }) => html`<code>${publicKey}</code>`,
    },
  ];
}

function stateOf({ keyId, validFrom, validUntil }: TrustedKey, active: string | null, now: Date): Html {
  if (keyId === active) return state("ok", "signs");
  if (new Date(validFrom) > now) return state("wait", "standby");
  return validUntil !== null && new Date(validUntil) <= now ? state("off", "retired") : state("off", "does not sign");
}

function statementOf({ revision, issuedAt, listKey, delegatedUntil }: VerifiedTrustList, read: ReadTrustList): Html {
  return html`<dl>
    <div>
      <dt>Verified</dt>
      <dd>
        ${state("ok", "stated by signing")}
        ${
          read.hasRoot
            ? "The pinned offline root delegated to the list key."
            : "No offline root is pinned here: the list key that came with the list is believed."
        }
      </dd>
    </div>
    <div>
      <dt>Revision</dt>
      <dd>${revision}, stated ${instant(issuedAt)}</dd>
    </div>
    <div>
      <dt>List key</dt>
      <dd><code>${listKey}</code></dd>
    </div>
    <div>
      <dt>Delegation</dt>
      <dd>
        ${delegatedUntil ? html`by an offline root, until ${instant(delegatedUntil)}` : "none: no offline root is installed"}
      </dd>
    </div>
  </dl>`;
}
