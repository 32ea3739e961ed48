import { type Content, type Html, html } from "../../markup/html.ts";

export function notice(tone: "wait" | "bad", content: Content): Html {
  return html`<div class="note ${tone === "bad" ? "badnote" : ""}">${content}</div>`;
}

/**
 * Tells the result of the form that redirected to this page with `?done=WORD`; undefined for a word
 * that is not in `texts`, so that a forged link can show no other text.
 */
export function doneNotice(query: URLSearchParams, texts: Readonly<Record<string, Content>>): Html | undefined {
  const word = query.get("done") ?? "";
  if (!Object.hasOwn(texts, word)) return undefined;
  return html`<div class="note oknote" role="status">${texts[word]}</div>`;
}
