/**
 * Verifies the HMAC, signature and digest of a webhook, by Web Crypto. Shares no code with the
 * platform or `packages/verify`, so that an error there is not repeated here.
 */
import type { ReceivedWebhook } from "./receiver.ts";

/** The members of an entry of `GET /api/keys` that are used. */
interface TrustedKey {
  readonly keyId: string;
  readonly publicKey: string;
}

interface Signature {
  keyId: string;
  statement: string;
  value: string;
}

interface Payload {
  data: { signature: Signature };
}

const base64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
const utf8 = (text: string) => new TextEncoder().encode(text);

/** Returns the names of the checks that refuse the webhook; empty when it is genuine. */
export async function findFaults(
  webhook: ReceivedWebhook,
  secret: string,
  keys: readonly TrustedKey[],
): Promise<string[]> {
  const { signature } = (JSON.parse(new TextDecoder().decode(webhook.body)) as Payload).data;
  const checks = {
    HMAC: await hmacHolds(webhook, secret),
    Ed25519: await signatureHolds(signature, keys),
    digest: await digestHolds(webhook.body, signature.statement),
  };
  return Object.entries(checks).flatMap(([name, holds]) => (holds ? [] : [name]));
}

async function signatureHolds(signature: Signature, keys: readonly TrustedKey[]): Promise<boolean> {
  const trusted = keys.find(({ keyId }) => keyId === signature.keyId);
  if (!trusted) return false;
  const publicKey = await crypto.subtle.importKey("spki", base64(trusted.publicKey), "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", publicKey, base64(signature.value), utf8(signature.statement));
}

async function hmacHolds({ body, headers }: ReceivedWebhook, secret: string): Promise<boolean> {
  const bytes = base64(secret.replace(/^whsec_/, ""));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const prefix = utf8(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`);
  const signed = new Uint8Array([...prefix, ...body]);
  for (const candidate of (headers["webhook-signature"] ?? "").split(" ")) {
    const [version, value = ""] = candidate.split(",");
    if (version === "v1" && (await crypto.subtle.verify("HMAC", key, base64(value), signed))) return true;
  }
  return false;
}

/** The snapshot is the last member, so its bytes end before the two closing braces. */
async function digestHolds(body: Uint8Array, statement: string): Promise<boolean> {
  const mark = utf8(',"snapshot":');
  const start = Buffer.from(body).indexOf(mark) + mark.length;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body.slice(start, -2)));
  return statement.split("\n").at(-1) === Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Returns the webhook with one digit of its snapshot's timestamp changed. It is still valid JSON.
 */
export function withOneByteChanged(webhook: ReceivedWebhook): ReceivedWebhook {
  const body = webhook.body.slice();
  const lastDigit = body.length - '0Z"}}}'.length;
  body[lastDigit] = (body[lastDigit] ?? 0) ^ 1;
  return { ...webhook, body };
}
