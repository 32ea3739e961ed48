import type { PageAnswer } from "../../http/answer.ts";
import type { TenantCall } from "../../http/route.ts";
import type { MadeByForm } from "../../store/sent-form-store.ts";
import { type Html, html } from "../../markup/html.ts";
import { answerPage } from "./tenant-page.ts";

interface SentBefore {
  /** What the form makes: `key`. */
  readonly what: string;
  /**
   * Label of the link to the page of what was made, for a person who has not seen its secret: `Roll
   * the key`.
   */
  readonly replace: string;
  /** Link to the list of what the form makes. */
  readonly list: { readonly label: string; readonly href: string };
}

/**
 * Answers a form that makes a secret and was sent before: names what it has made, without the
 * secret. What it has made is unknown when the answer to its first sending was lost; the page then
 * leads to the list.
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

function unknown({ what, list }: SentBefore): Html {
  return html`<h1>This form was sent before</h1>
    <p class="lead">Nothing was done now, and what came of it the first time is not known.</p>
    <p>Look for the ${what} in the list. If it is there, and its secret was not seen, replace it.</p>
    <p><a class="button primary" href="${list.href}">${list.label}</a></p>`;
}
