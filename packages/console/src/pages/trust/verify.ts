import type { TenantCall, TenantRoute } from "../../http/route.ts";
import { readTrustList, type ReadTrustListDeps } from "../../rpc/read-trust-list.ts";
import { type Column, dataTable } from "../parts/data-table.ts";
import { errorAt, errorSummary, type Fault } from "../parts/faults.ts";
import { areaField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { pageHead } from "../parts/page-head.ts";
import { partOf } from "../parts/service-down.ts";
import { state } from "../parts/state.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { readPasted } from "./read-pasted.ts";
import { type Step, verdictOf, verifySteps } from "./verify-steps.ts";

const path = "/trust-list/verify";
const title = "Verify a webhook";
/** Largest text of a field, in bytes. A snapshot may have 1 MiB, and its envelope comes on top. */
const textBytesMax = 2 * 1024 * 1024;

/** The pasted text. The secret is no part of it, so that no page shows the secret. */
interface Typed {
  readonly headers: string;
  readonly body: string;
}

export function getVerify(): TenantRoute {
  return tenantPage({
    path,
    right: "member",
    load: async () => ({ headers: "", body: "" }),
    view: (typed, call) => ({ title, main: html`${head(call)} ${form(call, typed)}` }),
  });
}

export function postVerify(deps: ReadTrustListDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "member",
    isUpload: true,
    handle: (call) =>
      call.withUpload({ fileBytesMax: 0, textBytesMax }, async ({ form: sent }) => {
        const typed = { headers: sent.get("headers") ?? "", body: sent.get("body") ?? "" };
        const pasted = readPasted(typed.headers, typed.body);
        if (pasted.body === "") {
          const faults = [{ field: "body", error: "Paste the body of the webhook, as it was received." }];
          const main = html`${errorSummary(faults)} ${head(call)} ${form(call, typed, faults)}`;
          return answerPage(call, { title, main, status: 400 });
        }
        const trust = await partOf(call, "gateway", readTrustList(deps, call));
        const secrets = (sent.get("secret") ?? "").split(/[\s,]+/).filter((each) => each !== "");
        const steps = await verifySteps({ pasted, secrets, trust, now: call.now });
        return answerPage(call, { title, main: html`${head(call)} ${result(steps)} ${form(call, typed)}` });
      }),
  };
}

function head({ at }: TenantCall): Html {
  return pageHead({
    title,
    lead: "Paste a webhook as your receiver got it, and see which check passes and which fails. Nothing of it is kept.",
    above: { label: "Trust list", href: at("/trust-list") },
  });
}

function form({ at }: TenantCall, { headers, body }: Typed, faults: readonly Fault[] = []): Html {
  return html`<form method="post" action="${at(path)}" enctype="multipart/form-data">
    ${areaField({
      name: "headers",
      label: "Headers",
      hint: html`One a line, <code>webhook-id: snp_…</code>. A whole request with its body can be pasted here, too.`,
      rows: 6,
      value: headers,
    })}
    ${areaField({
      name: "body",
      label: "Body",
      hint: "The raw bytes, not parsed and written again.",
      rows: 8,
      value: body,
      error: errorAt(faults, "body"),
    })}
    <div class="field">
      <label for="secret">Secret of the endpoint, if you have it at hand</label>
      <p class="hint" id="secret-hint">
        <code>whsec_…</code>. It is used for this answer alone, and shown and stored nowhere. Without it the two HMACs
        are not checked.
      </p>
      <input
        id="secret"
        name="secret"
        class="mono"
        autocomplete="off"
        spellcheck="false"
        aria-describedby="secret-hint"
        data-secret
      />
    </div>
    <button class="primary">Verify</button>
  </form>`;
}

const outcomes = {
  ok: state("ok", "passed"),
  failed: state("bad", "failed"),
  unchecked: state("off", "not checked"),
} as const;

const columns: readonly Column<Step>[] = [
  { label: "Check", cell: ({ check, title: name }) => html`<span id="check-${check}">${name}</span>` },
  { label: "Outcome", cell: ({ outcome }) => outcomes[outcome] },
  { label: "Why", cell: ({ detail }) => html`<span dir="auto">${detail}</span>` },
];

function result(steps: readonly Step[]): Html {
  const { tone, text } = verdictOf(steps);
  const looks = { ok: "oknote", wait: "", bad: "badnote" } as const;
  const failed = steps.filter(({ outcome }) => outcome === "failed");
  const links = failed.map(({ check, title: name }) => html`<li><a href="#check-${check}">${name}</a></li>`);
  return html`<div class="note ${looks[tone]}" role="status">
      <b>${text}</b>
      ${
        links.length > 0 &&
        html`<ul>
          ${links}
        </ul>`
      }
    </div>
    ${dataTable({ caption: `${steps.length} checks, in their order`, columns, rows: steps })}
    <h2>Verify another</h2>`;
}
