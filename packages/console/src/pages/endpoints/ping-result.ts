import type { PingResult } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { outcomeOf, tookOf } from "../parts/outcome.ts";
import { type Html, html } from "../../markup/html.ts";

export function pingNote(ping: PingResult | undefined): Html | undefined {
  if (!ping) return undefined;
  if (ping.accepted) {
    return html`<div class="note oknote" role="status">
      <b>The receiver accepted a signed ping</b> (${outcomeOf(ping)}, ${tookOf(ping)}).
    </div>`;
  }
  return html`<div class="note badnote" role="status">
    <b>The receiver did not accept a ping</b>: ${outcomeOf(ping)} after ${tookOf(ping)}. ${saidOf(ping)} <br />Webhooks
    are posted anyway, and repeated by themselves. Mend the receiver, then post another ping.
  </div>`;
}

/** A receiver's answer, or why there was none. */
export function saidOf({ detail, answer }: Pick<PingResult, "detail" | "answer">): Html | undefined {
  const said = detail === "" ? answer : detail;
  return said === "" ? undefined : html`<q class="q" dir="auto">${said}</q>`;
}
