import { type Bytes, concat, fromBase64, fromHex, sha256, toBase64, utf8 } from "./bytes.ts";
import { type DeliveryRequest, header } from "./received-request.ts";
import { VerificationError } from "./verification-error.ts";

const toleranceMs = 5 * 60_000;

/** The headers that Standard Webhooks defines. */
export interface SignedHeaders {
  readonly id: string;
  /** When the attempt was made: milliseconds since 1970. */
  readonly sentAt: number;
  /** The text that the HMAC covers before the body. */
  readonly prefix: string;
  /** `v1,` and base64; several are separated by spaces. */
  readonly signatures: string;
}

/**
 * Checks `webhook-signature`, as Standard Webhooks defines it: the platform sent these bytes to
 * this endpoint within five minutes of `now`.
 *
 * @param secrets one of them must match: there are two while a secret is rotated
 * @param now milliseconds since 1970
 * @returns the `webhook-id`
 * @throws VerificationError `body`, `secret` or `clock`, as `readSignedHeaders`, `checkSignature`
 * and `checkClock` do
 */
export async function checkHmac(
  request: DeliveryRequest,
  body: Bytes,
  secrets: readonly string[],
  now: number,
): Promise<string> {
  const signed = readSignedHeaders(request);
  await checkSignature(request, signed, body, secrets);
  checkClock(signed, now);
  return signed.id;
}

/** @throws VerificationError `body` when a header is missing, or the timestamp is malformed */
export function readSignedHeaders(request: DeliveryRequest): SignedHeaders {
  const id = header(request, "webhook-id");
  const timestamp = header(request, "webhook-timestamp");
  const signatures = header(request, "webhook-signature");
  if (id === "" || !/^\d{1,12}$/.test(timestamp) || signatures === "") {
    const names = "webhook-id, webhook-timestamp and webhook-signature";
    throw new VerificationError("body", `the request lacks the headers ${names}`);
  }
  return { id, sentAt: Number(timestamp) * 1000, prefix: `${id}.${timestamp}.`, signatures };
}

/**
 * @throws VerificationError when no secret matches a signature: `body` if the body does not match
 * `content-digest`, else `secret`. Also `secret` when a secret is malformed
 */
export async function checkSignature(
  request: DeliveryRequest,
  { prefix, signatures }: SignedHeaders,
  body: Bytes,
  secrets: readonly string[],
): Promise<void> {
  const keys = await Promise.all(secrets.map(importSecret));
  const values = signatures.split(" ").flatMap((token) => {
    const [version, base64 = ""] = token.split(",");
    return version === "v1" ? (fromBase64(base64) ?? []) : [];
  });
  if (!(await someKeyMade(values, keys, concat(utf8(prefix), body)))) throw await mismatch(request, body);
}

/**
 * @throws VerificationError `clock` when the delivery was sent more than five minutes before or
 * after `now`
 */
export function checkClock({ sentAt }: SignedHeaders, now: number): void {
  const lateMs = now - sentAt;
  if (Math.abs(lateMs) > toleranceMs) {
    const seconds = Math.round(Math.abs(lateMs) / 1000);
    const message = `the delivery was sent ${seconds} seconds ${lateMs > 0 ? "before" : "after"} this clock's time`;
    throw new VerificationError("clock", message);
  }
}

/**
 * Checks the headers with an HMAC of the body alone, which are for receivers that cannot compute
 * `webhook-signature`.
 *
 * @param signatures of `x-vidimus-signature-256`, and of its `-previous` while a secret is rotated
 * @throws VerificationError `body` or `secret`, as `checkSignature` does
 */
export async function checkBodyHmac(
  request: DeliveryRequest,
  signatures: readonly string[],
  body: Bytes,
  secrets: readonly string[],
): Promise<void> {
  const keys = await Promise.all(secrets.map(importSecret));
  const values = signatures.flatMap((signature) => fromHex(signature.replace(/^sha256=/, "")) ?? []);
  if (!(await someKeyMade(values, keys, body))) throw await mismatch(request, body);
}

async function importSecret(secret: string) {
  const bytes = fromBase64(secret.replace(/^whsec_/, ""));
  if (!bytes || bytes.length === 0) throw new VerificationError("secret", "the secret is not whsec_ and base64");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** Web Crypto's `verify` compares in constant time. */
async function someKeyMade(
  values: readonly Bytes[],
  keys: readonly Awaited<ReturnType<typeof importSecret>>[],
  signed: Bytes,
): Promise<boolean> {
  for (const key of keys) {
    for (const value of values) if (await crypto.subtle.verify("HMAC", key, value, signed)) return true;
  }
  return false;
}

/**
 * When the body does not match `content-digest` it was changed, which explains the wrong HMAC.
 * Otherwise the fault is `secret`, although a changed `webhook-id` or `webhook-timestamp`, or a
 * changed body without a `content-digest`, looks the same.
 */
async function mismatch(request: DeliveryRequest, body: Bytes): Promise<VerificationError> {
  const announced = header(request, "content-digest");
  if (announced !== "" && announced !== (await contentDigest(body))) {
    return new VerificationError("body", "the body was changed on the way, or parsed and written again");
  }
  return new VerificationError("secret", "the secret is not the one that the HMAC was made with");
}

/** The value of `content-digest` (RFC 9530) for a body. */
export async function contentDigest(body: Bytes): Promise<string> {
  return `sha-256=:${toBase64(await sha256(body))}:`;
}
