import type { DeliveryRequest } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantCall } from "../../http/route.ts";
import { codeBlock } from "../parts/copyable.ts";
import { type Html, html } from "../../markup/html.ts";
import { figure } from "../../markup/in-words.ts";
import { type Part, showPart } from "../parts/service-down.ts";

/** Facts of a body that the page shows outside of the body, too; "" for missing ones. */
interface SaidInBody {
  readonly title: string;
  readonly keyId: string;
}

/**
 * Most bytes of a body on the page, so that the page stays below 40 kB with gzip. The file to save
 * has the whole body.
 */
const shownBytesMax = 16 * 1024;

export function sentRequest(part: Part<DeliveryRequest | undefined>, call: TenantCall): Html {
  return html`<section class="sheet padded" aria-labelledby="request">
    <h2 id="request">What is sent</h2>
    ${showPart(part, (request) => (request ? requestOf(request, call) : gone))}
  </section>`;
}

const gone = html`<p>It cannot be computed again: the endpoint or the snapshot is gone.</p>`;

function requestOf({ url, headers, body }: DeliveryRequest, { at, params }: TenantCall): Html {
  const { keyId } = saidIn(body);
  const shown = beginningOf(body);
  const rest = body.byteLength - Buffer.byteLength(shown);
  const file = at(`/deliveries/${params["delivery"]}/body`);
  const lines = [`POST ${url}`, ...headers.map(({ name, value }) => `${name}: ${value}`)];
  return html`<p class="q">
      <b>Computed again</b> from the snapshot, its signature and the endpoint as they are now. No request is stored, so
      this is no record. A value of <code>•••</code> is not shown: it may be a credential.
    </p>
    ${codeBlock({ id: "headers", label: "Headers", code: lines.join("\n"), copy: "Copy headers" })}
    ${codeBlock({ id: "body", code: shown, ...(rest > 0 ? { label: "Beginning of the body", isPart: true } : { label: "Body", copy: "Copy body" }) })}
    <p class="q">
      ${rest > 0 && html`The last ${figure(rest)} bytes are not shown:`} <a href="${file}">Save the body</a> ·
      ${figure(body.byteLength)} bytes
      ${keyId !== "" && html`· signed by <a href="${at("/trust-list")}"><bdi>${keyId}</bdi></a>`}
    </p>`;
}

function beginningOf(body: Uint8Array): string {
  if (body.byteLength <= shownBytesMax) return Buffer.from(body).toString();
  // With `stream` the decoder leaves out a character that is cut.
  return new TextDecoder().decode(body.subarray(0, shownBytesMax), { stream: true });
}

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
