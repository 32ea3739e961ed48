import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import type { StatedAnswer } from "../../packages/verify/test/support/list-stater.ts";
import type { TrustListPins } from "../../packages/verify/src/verify.ts";
import { vector } from "../../packages/verify/src/webhook-vector.ts";

/** A delivery that is genuine, or that a check must refuse. */
export interface DeliveryCase {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly keys: readonly TrustedKey[];
  /** The answer of `GET /api/keys`; by default `keys`, signed now. */
  readonly list?: Pick<StatedAnswer, "body"> & { readonly headers: Readonly<Record<string, string>> };
  /** The receiver's pins; by default the root behind the key that signs the default `list`. */
  readonly pins?: TrustListPins;
  /** When the list was fetched, in Unix seconds; by default now. */
  readonly keysAt?: number;
  /**
   * The platform's current keys. A cache on the way answers with `keys` unless it is told
   * `no-cache`. Absent when the list cannot be fetched again.
   */
  readonly present?: readonly TrustedKey[];
  /** How often the list must be fetched; any number by default. */
  readonly fetches?: number;
  /** By default the secret of the delivery vector. */
  readonly secret?: string;
  /** Expected output of a verifier; undefined for a genuine delivery. */
  readonly refusedBy?: RegExp;
}

interface TrustedKey {
  keyId: string;
  algorithm: string;
  publicKey: string;
  validFrom: string;
  validUntil: string | null;
}

const genuine = Buffer.from(vector.bodyBase64, "base64").toString();
const listed: TrustedKey = {
  keyId: vector.keyId,
  algorithm: "ed25519",
  publicKey: vector.publicKeyBase64,
  validFrom: "2026-11-01T00:00:00.000Z",
  validUntil: null,
};
const hmac = /HMAC|body|secret/;
const retired = { ...otherKey().listed, validUntil: "2026-11-20T00:00:00.000Z" };
/** The keys that a genuine list has. */
export const keys = [retired, listed];

/**
 * The vector's delivery, sent at `now` (Unix seconds), changed copies of it, and webhooks about an
 * endpoint. Each changed one has a valid HMAC, as an attacker who knows the secret can make it,
 * except those with `hmac` as `refusedBy`.
 */
export function deliveryCases(now: number): DeliveryCase[] {
  const sent = sealed(genuine, now);
  const copy = (title: string, refusedBy: RegExp | undefined, change: Partial<DeliveryCase>): DeliveryCase => ({
    title,
    keys,
    ...sent,
    ...change,
    ...(refusedBy && { refusedBy }),
  });
  const edited = (find: string, replacement: string) => {
    if (!genuine.includes(find)) throw new Error(`the vector does not hold ${find}`);
    return sealed(genuine.replace(find, replacement), now);
  };
  const envelope = /envelope|signature|body/;
  const signed = sent.headers["webhook-signature"] ?? "";
  const older = { ...sent.headers, "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")} ${signed}` };
  const late = { ...sent.headers, "webhook-timestamp": String(now - 1) };
  return [
    copy("genuine", undefined, {}),
    copy("genuine, while the secret is rotated", undefined, { headers: older }),
    copy("genuine, of a key that was retired since", undefined, {
      keys: [{ ...listed, validUntil: "2026-12-24T00:00:00.000Z" }],
    }),
    copy("a changed byte", hmac, { body: genuine.replace('"priority":0.1', '"priority":0.2') }),
    copy("another secret", hmac, { secret: `whsec_${Buffer.alloc(32, 3).toString("base64")}` }),
    copy("another timestamp", hmac, { headers: late }),
    copy("sent six minutes ago", /clock/, sealed(genuine, now - 360)),
    copy("sent in six minutes", /clock/, sealed(genuine, now + 360)),
    copy("an unknown key", /key/, { keys: [retired] }),
    copy("a key that was not valid yet", /key/, { keys: [{ ...listed, validFrom: "2026-11-21T09:30:00.124Z" }] }),
    copy("a key that was not valid any more", /key/, { keys: [{ ...listed, validUntil: "2026-11-21T09:30:00.122Z" }] }),
    copy("another key under the id", /Ed25519|key/, { keys: [{ ...listed, publicKey: retired.publicKey }] }),
    copy("a statement that was not signed", /Ed25519|signature/, edited("ten_acme\\n", "ten_acma\\n")),
    copy("a signature of another listed key", /digest|envelope|signature/, signedByAnother(now)),
    copy("another tenant", envelope, edited('"tenantId":"ten_acme"', '"tenantId":"ten_acma"')),
    copy("another document", envelope, edited('"documentId":"7b', '"documentId":"7c')),
    copy("another version", envelope, edited('"version":7,"status"', '"version":8,"status"')),
    copy("another sequence", envelope, edited('"sequence":12', '"sequence":13')),
    copy("another status", envelope, edited('"status":"usable","sequence"', '"status":"withheld","sequence"')),
    copy("another type", envelope, edited('"snapshot.usable"', '"snapshot.withheld"')),
    copy("another document type", envelope, edited('"documentType":"core/article"', '"documentType":"core/image"')),
    copy("another id", envelope, edited('{"id":"snp_0', '{"id":"snp_1')),
    copy("another snapshot", /digest/, edited('"priority":0.1', '"priority":0.2')),
    copy("the snapshot written in another way", /digest/, edited('"n":1e+21', '"n":1e21')),
    ...eventCases(now).map(({ title, refusedBy, ...each }) => copy(title, refusedBy, each)),
  ];
}

/** Webhooks about an endpoint instead of a snapshot. */
function eventCases(now: number): (Pick<DeliveryCase, "title" | "headers" | "body"> & { refusedBy?: RegExp })[] {
  const data = { tenantId: "ten_acme", endpointId: "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77" };
  const of = (type: string, id: string = vector.headers["webhook-id"]) =>
    sealed(JSON.stringify({ id, type, timestamp: "2026-11-21T09:30:00.120Z", data }), now);
  const ping = of("endpoint.ping");
  return [
    ...["ping", "disabled", "expiring", "recovered", "later"].map((name) =>
      Object.assign({ title: `genuine, endpoint.${name}` }, of(`endpoint.${name}`)),
    ),
    {
      title: "an event with a changed byte",
      ...ping,
      body: ping.body.replace("acme", "acma"),
      refusedBy: hmac,
    },
    { title: "an event with another id", ...of("endpoint.ping", "png_1"), refusedBy: /envelope|body|key/ },
    { title: "an event that is none", ...of("snapshot.usable"), refusedBy: /./ },
  ];
}

/**
 * The genuine delivery with kept lists. A list that is older than a minute and does not allow the
 * key must be fetched again, because the key may have been activated in an emergency.
 */
export function keptListCases(genuine: DeliveryCase, now: number): DeliveryCase[] {
  const tomorrow = { ...listed, validFrom: "2026-11-22T09:30:00.000Z" };
  const kept = { ...genuine, keysAt: now - 61, present: keys, fetches: 1 };
  return [
    { ...kept, title: "kept list: its key is valid from tomorrow", keys: [retired, tomorrow] },
    { ...kept, title: "kept list: without its key", keys: [retired] },
    { ...kept, title: "kept list: with its key", fetches: 0 },
    {
      ...kept,
      title: "kept list: fetched within the minute",
      keys: [tomorrow],
      keysAt: now - 30,
      fetches: 0,
      refusedBy: /key/,
    },
    {
      ...kept,
      title: "kept list: not valid in the present one either",
      keys: [retired],
      present: [tomorrow],
      refusedBy: /key/,
    },
  ];
}

function sealed(body: string, timestamp: number): Pick<DeliveryCase, "headers" | "body"> {
  const secret = Buffer.from(vector.secret.replace("whsec_", ""), "base64");
  const id = vector.headers["webhook-id"];
  const value = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  const digest = createHash("sha256").update(body).digest("base64");
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${value}`,
    "content-digest": `sha-256=:${digest}:`,
  };
  return { headers, body };
}

/**
 * Line 8 of the statement names the vector's key; `keyId` and `value` are of another listed key.
 */
function signedByAnother(now: number): Pick<DeliveryCase, "headers" | "body" | "keys"> {
  const { listed: other, privateKey } = otherKey();
  const value = sign(null, Buffer.from(vector.statement), privateKey).toString("base64");
  const body = genuine
    .replace(`"signature":{"keyId":"${vector.keyId}"`, `"signature":{"keyId":"${other.keyId}"`)
    .replace(vector.signatureBase64, value);
  return { ...sealed(body, now), keys: [...keys, other] };
}

/** An entry of a key that is not the platform's. */
export function newKeyListed(): TrustedKey {
  return otherKey().listed;
}

export function backdated(): TrustedKey {
  return { ...newKeyListed(), validFrom: "2020-01-01T00:00:00.000Z", validUntil: "2020-12-31T00:00:00.000Z" };
}

function otherKey() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ type: "spki", format: "der" });
  const keyId = `ed25519-${createHash("sha256").update(spki).digest("base64url").slice(0, 16)}`;
  return { listed: { ...listed, keyId, publicKey: spki.toString("base64") }, privateKey };
}
