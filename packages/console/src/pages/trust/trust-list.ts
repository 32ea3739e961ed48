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
    load: (call) => partOf(call, "gateway", readTrustList(deps, call)),
    view: (part, call) => ({ title: "Trust list", main: trustListPage(part, call, deps.apiOrigin) }),
  });
}

const lead =
  "All that is published is signed. Whoever gets it checks the signature with a key of this list, and so notices what somebody has forged or changed. Nothing on this page is secret.";

function trustListPage(part: Part<ReadTrustList>, call: TenantCall, apiOrigin: URL): Html {
  const code = `curl -si ${new URL("/api/keys", apiOrigin).href}`;
  return html`${pageHead({
      title: "Trust list",
      lead,
      aside: linkButton("Verify a webhook", call.at("/trust-list/verify"), "primary"),
    })}
    ${showPart(part, (read) => listOf(read, call.now))} ${whatToDo(call)}
    <h2>Read it yourself</h2>
    ${codeBlock({ id: "curl", label: "Command that reads the trust list", code })}
    ${"value" in part && part.value.list && statementOf(part.value.list, part.value)}`;
}

function whatToDo({ at }: TenantCall): Html {
  return html`<h2>What to do with it</h2>
    <ul>
      <li>
        Day by day, nothing: the programs that receive your webhooks fetch the list by themselves, and its keys change
        by themselves.
      </li>
      <li>If a program refuses a webhook, <a href="${at("/trust-list/verify")}">verify it here</a>, and see why.</li>
      <li>
        If you build such a program, let it fetch the list at the address below, and refuse what no key of it verifies.
      </li>
      <li>A key that is not in the list was withdrawn, or never was the platform's: trust nothing that it signed.</li>
    </ul>`;
}

function listOf(read: ReadTrustList, now: Date): Html {
  const { list, refusal = "" } = read;
  if (!list) {
    return html`${notice("bad", html`<b>Receivers refuse this list</b>: ${refusal}. Tell whoever operates the platform.`)}
    ${codeBlock({ id: "answer", label: "The body of the answer", code: read.answer.body })}`;
  }
  const caption = list.keys.length === 1 ? "1 key" : `${list.keys.length} keys`;
  const byStart = list.keys.toSorted((a, b) => (a.validFrom < b.validFrom ? 1 : -1));
  return html`${list.active === null && notice("wait", "Signing is off: deliveries wait, and none goes out unsigned.")}
  ${dataTable({ caption: `${caption}, newest first`, columns: columnsFor(list, now), rows: byStart })}`;
}

function columnsFor({ active }: VerifiedTrustList, now: Date): Column<TrustedKey>[] {
  return [
    { label: "Key", cell: ({ keyId }) => html`<code>${keyId}</code>` },
    { label: "State", cell: (key) => standingOf(key, active, now) },
    { label: "Signs from", cell: ({ validFrom }) => instant(new Date(validFrom)) },
    { label: "Until", cell: ({ validUntil }) => (validUntil === null ? "not set" : instant(new Date(validUntil))) },
    {
      label: "Public key",
      cell: ({ publicKey }) => html`<code>${publicKey}</code>`,
    },
  ];
}

function standingOf({ keyId, validFrom, validUntil }: TrustedKey, active: string | null, now: Date): Html {
  if (keyId === active) return standings.signs;
  if (new Date(validFrom) > now) return standings.next;
  return validUntil !== null && new Date(validUntil) <= now ? standings.ended : standings.reserve;
}

const standing = (look: Html, meaning: string) => html`${look}<br /><small>${meaning}</small>`;

const standings = {
  signs: standing(state("ok", "signs now"), "What is published now is signed with it."),
  next: standing(state("off", "comes next"), "It does not sign yet. Receivers learn of it ahead."),
  reserve: standing(state("off", "in reserve"), "It may sign, and does not now."),
  ended: standing(state("off", "signs no more"), "What it has signed stays genuine."),
};

function statementOf({ revision, issuedAt, listKey, delegatedUntil }: VerifiedTrustList, read: ReadTrustList): Html {
  return html`<h2>Who vouches for it</h2>
    <dl>
      <div>
        <dt>This list</dt>
        <dd>
          ${read.hasRoot ? state("ok", "genuine") : state("off", "unchanged")} It comes from the signing service.
          ${
            read.hasRoot
              ? "The operator's offline root key, which this console knows, says so."
              : "This console knows no offline root key of the operator, so it believes the list key that came with the list."
          }
        </dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>${revision}, signed ${instant(issuedAt)}</dd>
      </div>
      <div>
        <dt>List key</dt>
        <dd>It signs the list, and nothing else: <code>${listKey}</code></dd>
      </div>
      <div>
        <dt>Approval</dt>
        <dd>
          ${
            delegatedUntil
              ? html`The operator's offline root key approves the list key until ${instant(delegatedUntil)}.`
              : "Nobody approves the list key: the operator has installed no offline root key."
          }
        </dd>
      </div>
    </dl>`;
}
