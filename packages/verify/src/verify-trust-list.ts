import { type Bytes, fromBase64, sha256, toHex, utf8 } from "./bytes.ts";
import { parseDictionary } from "./dictionary.ts";
import { keyIdOf } from "./key-id.ts";
import { isTrustedKey, type TrustedKey } from "./trust-list.ts";
import { VerificationError } from "./verification-error.ts";

/** The answer of `GET /api/keys`. Store all three parts to verify snapshots years later. */
export interface TrustListAnswer {
  /** The body exactly as it was received, not parsed and written again. */
  readonly body: string | Uint8Array;
  /** The header `Vidimus-Trust-Statement`; null when there was none. */
  readonly statement: string | null;
  /** The header `Vidimus-Trust-Signature`; null when there was none. */
  readonly signature: string | null;
}

/** What a receiver knows of the platform in advance. */
export interface TrustListPins {
  /** The platform's offline root, as its operator publishes it: base64 of SPKI DER. */
  readonly root?: string | undefined;
  /** Without a root: `listKey` of the first list that was accepted. */
  readonly listKey?: string | undefined;
  /** `revision` of the newest accepted list. A list with a lower one is refused as outdated. */
  readonly revision?: number | undefined;
}

export interface VerifiedTrustList {
  /** `keyId` of the key that signs new snapshots; null while none signs. */
  readonly active: string | null;
  readonly keys: readonly TrustedKey[];
  /** Greater after each change of the list. */
  readonly revision: number;
  readonly issuedAt: Date;
  /** Base64 of SPKI DER of the key that signed the list's statement. */
  readonly listKey: string;
  /**
   * When the root's delegation ends; undefined when the list carries none. Only with a pinned root
   * is the delegation verified.
   */
  readonly delegatedUntil: Date | undefined;
}

const hourMs = 3_600_000;
const ageMsMax = 25 * hourMs;
const clockMsMax = 300_000;

const time = String.raw`(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)`;
const statementFormat = new RegExp(`^vidimus-trust-v1\n([1-9][0-9]{0,15})\n${time}\n([0-9a-f]{64})$`);
const delegationFormat = new RegExp(`^(vidimus-trust-root-v1\n(.+)\n(.+)\n${time})\n(.+)$`);

/**
 * Verifies that the list key stated exactly this body, that the list is neither outdated nor from
 * the future, and that the pinned root delegated to the list key, or without a root, that the list
 * key is the pinned one. With neither a pinned root nor a pinned list key any list key passes.
 *
 * @param now milliseconds since 1970; for a stored list the time of its fetch
 * @throws VerificationError `list` when one of these is not so, or a part of the answer is
 * malformed
 */
export async function verifyTrustList(
  answer: TrustListAnswer,
  pins: TrustListPins = {},
  now = Date.now(),
): Promise<VerifiedTrustList> {
  const body = typeof answer.body === "string" ? utf8(answer.body) : new Uint8Array(answer.body);
  const { statement, key, keyId, signature, delegation } = parseHeaders(answer);
  const spki = fromBase64(key);
  if (!spki || (await keyIdOf(spki)) !== keyId) throw refusal("chain: the list key does not have the id it goes by");
  const delegatedUntil = await checkChain({ key, keyId, delegation }, pins, now);
  if (!(await isSigned(spki, statement, signature))) throw refusal("signature: the list key did not state the list");
  const [, revision, issuedAt = "", digest] = statementFormat.exec(statement) ?? [];
  if (digest !== toHex(await sha256(body))) throw refusal("digest: another list was stated");
  checkAge(now - Date.parse(issuedAt));
  if (Number(revision) < (pins.revision ?? 0)) {
    throw refusal(`revision: ${revision} was taken back, ${pins.revision} is newer`);
  }
  const stated = { revision: Number(revision), issuedAt: new Date(issuedAt), listKey: key, delegatedUntil };
  return { ...parseBody(body), ...stated };
}

function parseHeaders({ statement, signature }: TrustListAnswer) {
  const members = parseDictionary(signature ?? "");
  const [keyId, key, sig] = ["keyid", "key", "sig"].map((name) => members?.get(name));
  const stated = decode(statement ?? "");
  if (!keyId || !key || !sig || !stated) throw refusal("statement: the answer does not carry one");
  return { statement: stated, keyId, key, signature: sig, delegation: decode(members?.get("delegation") ?? "") };
}

/** @returns when the root's delegation ends; undefined without a delegation */
async function checkChain(
  { key, keyId, delegation }: { key: string; keyId: string; delegation: string },
  { root, listKey }: TrustListPins,
  now: number,
): Promise<Date | undefined> {
  const [, signed = "", delegatedId, delegatedKey, until, signature = ""] = delegationFormat.exec(delegation) ?? [];
  const end = until === undefined ? undefined : new Date(until);
  if (root === undefined) {
    if (listKey !== undefined && listKey !== key) throw refusal("chain: another list key stated it than is pinned");
    return end;
  }
  if (!end || !(await isSigned(fromBase64(root), signed, signature))) {
    throw refusal("chain: the pinned root did not delegate to a list key");
  }
  if (delegatedId !== keyId || delegatedKey !== key) throw refusal("chain: the root delegated to another list key");
  if (!(end.getTime() > now)) throw refusal(`delegation: it ended at ${until}`);
  return end;
}

function checkAge(ageMs: number): void {
  if (!(ageMs <= ageMsMax)) throw refusal("age: the list was stated more than 25 hours ago");
  if (ageMs < -clockMsMax) throw refusal("age: the list was stated in the future");
}

async function isSigned(spki: Bytes | undefined, text: string, base64: string): Promise<boolean> {
  const signature = fromBase64(base64);
  if (!spki || !signature) return false;
  try {
    const key = await crypto.subtle.importKey("spki", spki, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", key, signature, utf8(text));
  } catch {
    return false;
  }
}

function parseBody(body: Bytes): Pick<VerifiedTrustList, "active" | "keys"> {
  const list = parseJson(new TextDecoder().decode(body));
  const { active, keys }: { active?: unknown; keys?: unknown } = typeof list === "object" && list !== null ? list : {};
  if ((active !== null && typeof active !== "string") || !Array.isArray(keys) || !keys.every(isTrustedKey)) {
    throw refusal("body: it is no trust list");
  }
  return { active, keys };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal("body: it is no JSON");
  }
}

function decode(base64: string): string {
  return new TextDecoder().decode(fromBase64(base64));
}

function refusal(message: string): VerificationError {
  return new VerificationError("list", message);
}
