import type { PageAnswer } from "../../http/answer.ts";
import type { TenantCall } from "../../http/route.ts";
import type { MadeByForm } from "../../store/sent-form-store.ts";
import { type Html, html } from "../../markup/html.ts";
import { answerPage } from "./tenant-page.ts";

interface SentBefore {
  /** What to do when nothing is known of the first sending. */
  readonly advice: string;
  /** Label of the link to `MadeByForm`'s `path`, for a secret that was not seen: `Roll the key`. */
  readonly replace: string;
  /** Link to the page on which to look for what the form made. */
  readonly list: { readonly label: string; readonly href: string };
}

/** Advice where the page of the link lists what the form makes. */
export function lookFor(what: string): string {
  return `Look for the ${what} in the list. If it is there, and its secret was not seen, replace it.`;
}

/**
 * Answers a form that makes a secret and was sent before: names what it has made, without the
 * secret. `made` is undefined when the result of the first sending is not known; the page then
 * leads to `list`.
 */
export function sentBefore(call: TenantCall, made: MadeByForm | undefined, about: SentBefore): PageAnswer {
  return answerPage(call, { title: "Sent before", main: made ? known(made, about) : unknown(about), status: 409 });
}

function known({ name = "", path }: MadeByForm, { replace, list }: SentBefore): Html {
  return html`<h1 dir="auto">“<bdi>${name}</bdi>” was made by the first click</h1>
    <p class="lead">
      This form was sent before, so nothing more was made. Its secret was shown once, in the other answer.
    </p>
    <p>Did you see the secret and store it? Then all is well. If not, replace it: nobody can show it again.</p>
    <div class="actions">
      <a class="button primary" href="${path}">${replace}</a>
      <a class="button" href="${list.href}">${list.label}</a>
    </div>`;
}

function unknown({ advice, list }: SentBefore): Html {
  return html`<h1>This form was sent before</h1>
    <p class="lead">Nothing was done now, and what came of it the first time is not known.</p>
    <p>${advice}</p>
    <p><a class="button primary" href="${list.href}">${list.label}</a></p>`;
}
