import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Delivery, DeliveryAttempt } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { type Html, html } from "../../markup/html.ts";
import { dueIn, exactly } from "../parts/times.ts";
import { attempts as attemptsIn, stateMeanings } from "./delivery-state.ts";
import { isAccepted, outcomeOf, tookOf } from "../parts/outcome.ts";

/** The attempts at a delivery, oldest first, and what happens next if nobody does anything. */
export function attemptLine(delivery: Delivery, made: readonly DeliveryAttempt[], now: Date): Html {
  const left = delivery.attemptCount - made.length;
  return html`<section class="sheet padded" aria-labelledby="attempts">
    <h2 id="attempts">Attempts</h2>
    ${left > 0 && html`<p class="q">${attemptsIn(left)} before these are not kept.</p>`}
    <ol class="line">
      ${made.map(attemptItem)}
      <li class="${delivery.state === "pending" ? "next" : "end"}">${whatFollows(delivery, now)}</li>
    </ol>
  </section>`;
}

function attemptItem(attempt: DeliveryAttempt): Html {
  const { at: began, detail, answer, replayId } = attempt;
  const said = detail === "" ? answer : detail;
  return html`<li class="${isAccepted(attempt) ? "taken" : "refused"}">
    ${began && html`<b>${exactly(timestampDate(began))}</b> `}${outcomeOf(attempt)}
    <span class="q">after ${tookOf(attempt)}${replayId !== "" && html`, in a replay or sent again by somebody`}</span>
    ${said !== "" && html`<br /><q class="q" dir="auto">${said}</q>`}
  </li>`;
}

function whatFollows({ state, nextAttemptAt }: Delivery, now: Date): Html {
  if (state === "pending" && nextAttemptAt)
    return html`<b>Next attempt</b> by itself ${dueIn(timestampDate(nextAttemptAt), now)}`;
  if (state === "pending") return html`Another delivery of the same document goes first, then this one.`;
  return html`${stateMeanings[state] ?? state}`;
}
