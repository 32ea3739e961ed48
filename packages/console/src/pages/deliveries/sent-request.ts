import type { DeliveryRequest } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantCall } from "../../http/route.ts";
import { codeBlock } from "../parts/copyable.ts";
import { type Html, html } from "../../markup/html.ts";
import { type Part, showPart } from "../parts/service-down.ts";

/** Facts of a body that the page shows outside of the body, too; "" for missing ones. */
interface SaidInBody {
  readonly title: string;
  readonly keyId: string;
}

const figures = new Intl.NumberFormat("en");

/** Shows the request of a delivery, computed again. */
export function sentRequest(part: Part<DeliveryRequest | undefined>, { at }: TenantCall): Html {
  return html`<section class="sheet padded" aria-labelledby="request">
    <h2 id="request">What is sent</h2>
    ${showPart(part, (request) => (request ? requestOf(request, at) : gone))}
  </section>`;
}

const gone = html`<p>It cannot be computed again: the endpoint or the snapshot is gone.</p>`;

function requestOf({ url, headers, body }: DeliveryRequest, at: TenantCall["at"]): Html {
  const { keyId } = saidIn(body);
  const lines = [`POST ${url}`, ...headers.map(({ name, value }) => `${name}: ${value}`)];
  return html`<p class="q">
      <b>Computed again</b> from the snapshot, its signature and the endpoint as they are now. No request is stored, so
      this is no record. A value of <code>•••</code> is not shown: it may be a credential.
    </p>
    ${codeBlock({ id: "headers", label: "Headers", code: lines.join("\n") })}
    ${codeBlock({ id: "body", label: "Body", code: Buffer.from(body).toString() })}
    <p class="q">
      ${figures.format(body.byteLength)} bytes
      ${keyId !== "" && html`· signed by <a href="${at("/trust-list")}"><bdi>${keyId}</bdi></a>`}
    </p>`;
}

/** Reads the snapshot's title and the key of its signature from a body. */
export function saidIn(body: Uint8Array): SaidInBody {
  const data = at(parsed(body), "data");
  return { title: text(at(at(data, "snapshot"), "title")), keyId: text(at(at(data, "signature"), "keyId")) };
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

function at(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
