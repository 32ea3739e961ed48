import type { Call, PersonRoute, TenantRoute } from "../http/route.ts";
import { areaField, hidden } from "./parts/form.ts";
import { onceFields } from "./parts/take-form.ts";
import { type Content, type Html, html } from "../markup/html.ts";
import { layout } from "./layout.ts";

type SentTo = Pick<PersonRoute | TenantRoute, "fields" | "inWords" | "secretFields" | "isUpload">;

/**
 * Answers a form whose sender must sign in first: shows what was typed in a form that can be sent
 * again after signing in in another tab. Shows only the fields that the route names, so never a
 * secret; secrets are asked for once more. The form of an upload must be opened again, because the
 * console has not read it.
 */
export function sendAgainPage(route: SentTo, call: Pick<Call, "form" | "url">, why: "ended" | "too old"): Html {
  const title = why === "ended" ? "Your session has ended" : "Sign in again for this";
  const reason =
    why === "ended" ? "Nothing was done." : "This needs a sign-in of the last 15 minutes. Nothing was done yet.";
  const path = why === "ended" ? "/sign-in" : "/sign-in?again=1";
  const next = route.isUpload
    ? "Sign in again in a new tab, come back here, and open the form again: what it had was not kept."
    : "Sign in again in a new tab, come back here, and send what you have typed.";
  return layout(
    { title },
    html`<h1>${title}</h1>
      <p class="lead">${reason} ${next}</p>
      <p><a class="button primary" href="${path}" target="_blank" rel="noopener">Sign in in a new tab</a></p>
      ${
        route.isUpload
          ? html`<p><a class="button" href="${call.url.pathname}">Open the form again</a></p>`
          : typedForm(route, call)
      }`,
  );
}

function typedForm(
  { fields = {}, inWords = (value) => value, secretFields = {} }: SentTo,
  { form, url }: Pick<Call, "form" | "url">,
): Html {
  const typed = Object.entries(fields).flatMap(([name, label]) =>
    form.getAll(name).map((value) => ({ name, label, value })),
  );
  const shown = typed.filter(({ label }) => label !== "");
  const secrets = Object.entries(secretFields).filter(([name]) => form.get(name));
  const facts: Content = shown.map(
    ({ label, value }) =>
      html`<div>
        <dt>${label}</dt>
        <dd dir="auto">${inWords(value)}</dd>
      </div>`,
  );
  return html`<form method="post" action="${url.pathname}">
    ${shown.length > 0 && html`<dl>${facts}</dl>`} ${typed.map(({ name, value }) => hidden(name, value))}
    ${onceFields(form)}
    ${secrets.map(([name, label]) => areaField({ name, label, hint: "Type it once more: secrets are not kept.", rows: 3, isRequired: true }))}
    <button>Send it again</button>
  </form>`;
}
