import { type Html, html } from "../../markup/html.ts";

/** The colour of a state. The word beside it says what the state is. */
export type Tone = "ok" | "wait" | "bad" | "off";

/** Shows a state as a coloured dot and its words. */
export function state(tone: Tone, word: string): Html {
  return html`<span class="tag ${tone}">${word}</span>`;
}
