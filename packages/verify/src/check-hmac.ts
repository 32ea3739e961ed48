import { type Bytes, concat, fromBase64, sha256, toBase64, utf8 } from "./bytes.ts";
import { type DeliveryRequest, header } from "./received-request.ts";
import { VerificationError } from "./verification-error.ts";

const toleranceMs = 5 * 60_000;

/**
 * Checks that the platform sent these bytes to this endpoint, and did so within five minutes of
 * `now`: `webhook-signature`, as Standard Webhooks defines it.
 *
 * @param secrets of which one is enough: two while a secret is rotated
 * @param now milliseconds since 1970
 * @returns the `webhook-id`
 * @throws VerificationError `body`, `secret` or `clock`
 */
export async function checkHmac(
  request: DeliveryRequest,
  body: Bytes,
  secrets: readonly string[],
  now: number,
): Promise<string> {
  const id = header(request, "webhook-id");
  const timestamp = header(request, "webhook-timestamp");
  const signatures = header(request, "webhook-signature");
  if (id === "" || !/^\d{1,12}$/.test(timestamp) || signatures === "") {
    const names = "webhook-id, webhook-timestamp and webhook-signature";
    throw new VerificationError("body", `the request lacks the headers ${names}`);
  }
  const signed = concat(utf8(`${id}.${timestamp}.`), body);
  const keys = await Promise.all(secrets.map(importSecret));
  if (!(await someKeyMade(signatures, keys, signed))) throw await mismatch(request, body);
  const lateMs = now - Number(timestamp) * 1000;
  if (Math.abs(lateMs) > toleranceMs) {
    const seconds = Math.round(Math.abs(lateMs) / 1000);
    const message = `the delivery was sent ${seconds} seconds ${lateMs > 0 ? "before" : "after"} this clock's time`;
    throw new VerificationError("clock", message);
  }
  return id;
}

async function importSecret(secret: string) {
  const bytes = fromBase64(secret.replace(/^whsec_/, ""));
  if (!bytes || bytes.length === 0) throw new VerificationError("secret", "the secret is not whsec_ and base64");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** Web Crypto compares in constant time. */
async function someKeyMade(
  signatures: string,
  keys: readonly Awaited<ReturnType<typeof importSecret>>[],
  signed: Bytes,
): Promise<boolean> {
  const values = signatures.split(" ").flatMap((token) => {
    const [version, base64 = ""] = token.split(",");
    return version === "v1" ? (fromBase64(base64) ?? []) : [];
  });
  for (const key of keys) {
    for (const value of values) if (await crypto.subtle.verify("HMAC", key, value, signed)) return true;
  }
  return false;
}

/** A body that is not the one of `content-digest` explains a wrong HMAC; otherwise the secret does. */
async function mismatch(request: DeliveryRequest, body: Bytes): Promise<VerificationError> {
  const digest = `sha-256=:${toBase64(await sha256(body))}:`;
  const announced = header(request, "content-digest");
  if (announced !== "" && announced !== digest) {
    return new VerificationError("body", "the body was changed on the way, or parsed and written again");
  }
  return new VerificationError("secret", "the secret is not the one that the HMAC was made with");
}
