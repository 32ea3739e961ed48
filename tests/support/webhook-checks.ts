/**
 * The checks of a receiver, in Web Crypto, written from the documentation and sharing no code with
 * the platform.
 */
import type { Webhook } from "./receiver.ts";

/** An entry of `GET /api/keys`. */
export interface TrustedKey {
  readonly keyId: string;
  readonly algorithm: string;
  readonly publicKey: string;
  readonly validFrom: string;
  readonly validUntil: string | null;
}

export const checkNames = ["ed25519", "snapshot", "hmac", "standard-webhooks", "digest"] as const;

const utf8 = (text: string) => new TextEncoder().encode(text);
const base64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
const sha256 = (bytes: BufferSource) => crypto.subtle.digest("SHA-256", bytes);

/** The names of the checks that fail; none for a genuine webhook. */
export async function failedChecks(
  { headers, body }: Webhook,
  secret: string,
  keys: readonly TrustedKey[],
): Promise<string[]> {
  const bytes = new Uint8Array(body);
  const header = (name: string) => String(headers[name] ?? "");
  const { signature } = (JSON.parse(body.toString()) as SignedPayload).data;
  const key = await crypto.subtle.importKey(
    "raw",
    base64(secret.replace(/^whsec_/, "")),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const hmac = (message: BufferSource) => crypto.subtle.sign("HMAC", key, message);
  const prefix = utf8(`${header("webhook-id")}.${header("webhook-timestamp")}.`);
  const standard = await hmac(new Uint8Array([...prefix, ...bytes]));
  const passed: Record<(typeof checkNames)[number], boolean> = {
    ed25519: await ed25519Holds(signature, keys),
    snapshot: signature.statement.split("\n").at(-1) === hex(await sha256(snapshotBytes(body))),
    hmac: header("x-vidimus-signature-256") === `sha256=${hex(await hmac(bytes))}`,
    "standard-webhooks": header("webhook-signature")
      .split(" ")
      .includes(`v1,${Buffer.from(standard).toString("base64")}`),
    digest: header("content-digest") === `sha-256=:${Buffer.from(await sha256(bytes)).toString("base64")}:`,
  };
  return checkNames.filter((name) => !passed[name]);
}

interface SignedPayload {
  data: { signature: { keyId: string; statement: string; value: string } };
}

async function ed25519Holds(
  { keyId, statement, value }: SignedPayload["data"]["signature"],
  keys: readonly TrustedKey[],
): Promise<boolean> {
  const trusted = keys.find((entry) => entry.keyId === keyId);
  if (!trusted) return false;
  const key = await crypto.subtle.importKey("spki", base64(trusted.publicKey), "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", key, base64(value), utf8(statement));
}

/** The bytes of the snapshot, the last member: between its name and the two closing braces. */
export function snapshotBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  const mark = ',"snapshot":';
  return new Uint8Array(body.subarray(body.indexOf(mark) + mark.length, -2));
}

/** JSON as RFC 8785 writes it: names in the order of their UTF-16 units, which `<` compares. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}
