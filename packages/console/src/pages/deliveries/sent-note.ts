import type { Delivery } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { type Html, html } from "../../markup/html.ts";
import { isAccepted, outcomeOf, tookOf } from "../parts/outcome.ts";

/**
 * What came of "Send again now"; undefined when the page was reached by another way. With
 * `done=again` the attempt is the delivery's last one. With `done=due` it is made within seconds,
 * and there is a note only while the delivery is pending, or once it is delivered.
 */
export function sentNote({ lastAttempt, state }: Delivery, query: URLSearchParams): Html | undefined {
  const done = query.get("done");
  if (done === "due" && state === "delivered") {
    return html`<div class="note oknote" role="status"><b>It was sent again, and the receiver took it.</b></div>`;
  }
  if (done === "due" && state === "pending") {
    return html`<div class="note oknote" role="status">
      <b>The next attempt is due at once.</b> Load the page again in a few seconds to see what came of it.
    </div>`;
  }
  if (done !== "again" || !lastAttempt) return undefined;
  const came = `${outcomeOf(lastAttempt)} after ${tookOf(lastAttempt)}`;
  return isAccepted(lastAttempt)
    ? html`<div class="note oknote" role="status"><b>Sent again, and the receiver took it</b>: ${came}.</div>`
    : html`<div class="note badnote" role="status">
        <b>Sent again, and the receiver did not take it</b>: ${came}. None follows by itself.
      </div>`;
}
