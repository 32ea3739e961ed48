import { copyableSecret } from "./copyable.ts";
import { type Content, type Html, html } from "../../markup/html.ts";

interface SecretPage {
  /** The heading, for example `"Wire importer" is made`. */
  readonly title: Html | string;
  readonly secret: string;
  /** Label of the secret: `API key`. */
  readonly label: string;
  /** The secret at the beginning of a sentence: `The key`. */
  readonly subject: string;
  /** Shown below the secret: how to use it. */
  readonly use?: Content;
  /** Shown below the box with the secret, for example when the secret expires. */
  readonly about?: Content;
  /** URL of the button below. */
  readonly next: string;
  /** What the button says; "I have stored it" by default. */
  readonly done?: string;
}

/**
 * Shows a secret once. The page is the answer to the POST that made the secret, with 200 and no
 * redirect, and the console stores the secret nowhere. A reload sends the form again, and is
 * answered with `sentBefore`, which has no secret.
 */
export function secretPage(page: SecretPage): Html {
  const { title, secret, label, subject, use, about, next, done = "I have stored it" } = page;
  return html`<h1 dir="auto">${title}</h1>
    <p class="lead">${subject} is shown this once, and never again. Take it from here now, then say so below.</p>
    <div class="sheet padded">${copyableSecret(label, secret)} ${use}</div>
    ${about}
    <p><a class="button primary" href="${next}">${done}</a></p>`;
}
