import { type Content, type Html, html } from "../../markup/html.ts";

/**
 * A notice that needs attention: what, since when, what happens next without a person, and a link
 * that helps.
 */
export function notice(tone: "wait" | "bad", content: Content): Html {
  return html`<div class="note ${tone === "bad" ? "badnote" : ""}">${content}</div>`;
}

/**
 * The result of the form that led to this page. A form redirects with `?done=WORD` and the page has
 * the texts, so that a forged link can show no other text.
 */
export function doneNotice(query: URLSearchParams, texts: Readonly<Record<string, Content>>): Html | undefined {
  const word = query.get("done") ?? "";
  if (!Object.hasOwn(texts, word)) return undefined;
  return html`<div class="note oknote" role="status">${texts[word]}</div>`;
}
