import { asDomainError, fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import type { Call } from "../../http/route.ts";
import { type Html, html } from "../../markup/html.ts";

/** The content of a part of a page, or the service that is down. */
export type Part<T> = { readonly value: T } | { readonly down: string };

/**
 * Awaits the answer of a service from which a part of a page is made. When the service is
 * unavailable or too slow, only that part is missing, and the log says why.
 *
 * @param service name for people: `delivery`
 */
export async function partOf<T>(
  call: Pick<Call, "noteMissing">,
  service: string,
  answer: Promise<T>,
): Promise<Part<T>> {
  try {
    return { value: await answer };
  } catch (error) {
    const kind = (asDomainError(error) ?? fromConnectError(error))?.kind;
    if (kind !== "unavailable" && kind !== "deadline_exceeded") throw error;
    call.noteMissing(service, error);
    return { down: service };
  }
}

export function showPart<T>(part: Part<T>, view: (value: T) => Html): Html {
  return "value" in part ? view(part.value) : serviceDown(part.down);
}

export function serviceDown(service: string): Html {
  return html`<div class="note badnote" role="status">
    <b>The service ${service} does not answer.</b> This part of the page is missing; the rest is right. Nothing is lost:
    load the page again in a moment.
  </div>`;
}
