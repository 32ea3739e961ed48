import { type Content, type Html, html } from "../../markup/html.ts";

/**
 * Tells of something that needs attention. The content says what it is, since when, and what
 * happens next if nobody does anything, and may link to the page where somebody can help.
 */
export function notice(tone: "wait" | "bad", content: Content): Html {
  return html`<div class="note ${tone === "bad" ? "badnote" : ""}">${content}</div>`;
}

/**
 * Tells the result of the form that led to this page; undefined without one. A form redirects with
 * `?done=WORD`, and the page has the texts by word, so that a forged link can show no other text.
 */
export function doneNotice(query: URLSearchParams, texts: Readonly<Record<string, Content>>): Html | undefined {
  const word = query.get("done") ?? "";
  if (!Object.hasOwn(texts, word)) return undefined;
  return html`<div class="note oknote" role="status">${texts[word]}</div>`;
}
