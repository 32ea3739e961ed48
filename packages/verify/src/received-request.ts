import { type Bytes, utf8 } from "./bytes.ts";
import { VerificationError } from "./verification-error.ts";

type HeaderValue = string | readonly string[] | undefined;

/** Headers of a Fetch `Request`, or of Node's `IncomingMessage`. */
export type ReceivedHeaders = { get(name: string): string | null } | { readonly [name: string]: HeaderValue };

/**
 * A request as it was received: a Fetch `Request` whose body nobody has read, or the headers and
 * the raw body. With Express, `express.raw({ type: "application/json" })` leaves the raw body.
 */
export type DeliveryRequest =
  | { readonly headers: ReceivedHeaders; arrayBuffer(): Promise<ArrayBuffer> }
  | { readonly headers: ReceivedHeaders; readonly body: Uint8Array | ArrayBuffer | string };

/** @throws VerificationError `body` when a framework has parsed the body */
export async function rawBody(request: DeliveryRequest): Promise<Bytes> {
  if ("arrayBuffer" in request) return new Uint8Array(await request.arrayBuffer());
  const { body } = request;
  if (typeof body === "string") return utf8(body);
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new VerificationError("body", "the body is not its raw bytes: do not parse it before it is verified");
}

/** Returns "" for an absent header. `name` must be in lower case. */
export function header({ headers }: DeliveryRequest, name: string): string {
  const { get } = headers;
  if (typeof get === "function") return get.call(headers, name) ?? "";
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : (found?.join(",") ?? "");
}
