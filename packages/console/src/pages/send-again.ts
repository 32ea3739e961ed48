import type { Call, PersonRoute, TenantRoute } from "../http/route.ts";
import { hidden } from "./parts/form.ts";
import { onceFields } from "./parts/take-form.ts";
import { type Html, html } from "../markup/html.ts";
import { layout } from "./layout.ts";

/**
 * Answers a form whose sender must sign in first: shows what was typed in a form that can be sent
 * again after signing in in another tab. Shows only the fields that the route names, so never a
 * secret.
 */
export function sendAgainPage(route: PersonRoute | TenantRoute, call: Call, why: "ended" | "too old"): Html {
  const title = why === "ended" ? "Your session has ended" : "Sign in again for this";
  const reason =
    why === "ended"
      ? "Nothing was done. Sign in again in a new tab, come back here, and send what you have typed."
      : "This needs a sign-in of the last 15 minutes. Nothing was done yet: sign in again in a new tab, come back here, and send what you have typed.";
  const path = why === "ended" ? "/sign-in" : "/sign-in?again=1";
  const typed = Object.entries(route.fields ?? {}).flatMap(([name, label]) =>
    call.form.getAll(name).map((value) => ({ name, label, value })),
  );
  return layout(
    { title },
    html`<h1>${title}</h1>
      <p class="lead">${reason}</p>
      <p><a class="button primary" href="${path}" target="_blank" rel="noopener">Sign in in a new tab</a></p>
      <form method="post" action="${call.url.pathname}">
        ${
          typed.length > 0 &&
          html`<dl>
            ${typed.map(
              ({ label, value }) =>
                html`<div>
                  <dt>${label}</dt>
                  <dd dir="auto">${value}</dd>
                </div>`,
            )}
          </dl>`
        }
        ${typed.map(({ name, value }) => hidden(name, value))}${onceFields(call.form)}
        <button>Send it again</button>
      </form>`,
  );
}
