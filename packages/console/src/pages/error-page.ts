import { type Html, html } from "./html.ts";
import { layout } from "./layout.ts";

/** What a person reads when something was refused or failed. */
export interface ErrorText {
  readonly title: string;
  readonly detail: string;
  /** What to do next. */
  readonly next?: string;
}

/** A page that says what failed. It links to the start, and sends nobody anywhere by itself. */
export function errorPage({ title, detail, next }: ErrorText, requestId: string): Html {
  return layout(
    { title },
    html`<h1>${title}</h1>
      <p class="lead">${detail}</p>
      ${next !== undefined && html`<p>${next}</p>`}
      <p><a href="/">To the start</a></p>
      <p class="q">Request <code>${requestId}</code></p>`,
  );
}
