import { createHash, createPublicKey } from "node:crypto";
import { VerificationError, verifyTrustList } from "../../../verify/src/verify.ts";
import { isJsonObject } from "../json-object.ts";
import { jsonOf } from "./fetch-page.ts";
import type { Answer } from "../public-api/send-with-retries.ts";
import { broken, type Finding, ok, warning } from "./finding.ts";

const check = "trust list";
const cacheSecondsMax = 3_600;
const dayMs = 86_400_000;
const delegationDaysMin = 30;

/**
 * Checks the answer of `GET /api/keys`: the keys in its body, signing's statement, its age, and how
 * long caches may keep it.
 *
 * @param root public key of the trust list's offline root, base64 of SPKI DER
 */
export async function checkTrustList(answer: Answer, root: string | undefined, nowMs: number): Promise<Finding> {
  const body = jsonOf(answer);
  if (!isJsonObject(body) || !Array.isArray(body["keys"])) {
    return broken(
      check,
      "the answer is no trust list",
      "See what answers at the gateway's URL: it is not the gateway.",
    );
  }
  const { active } = body;
  const keys: unknown[] = body["keys"];
  const fault = checkKeys(keys) ?? checkActive(active, keys.filter(isJsonObject), nowMs);
  if (fault?.status === "broken") return fault;
  const stated = await checkStatement(answer, root, nowMs);
  const rest = stated.status === "broken" ? stated : (fault ?? checkAge(answer.headers) ?? stated);
  return rest.status === "ok" ? ok(check, `${String(active)} signs, ${keys.length} listed${rest.finding}`) : rest;
}

/**
 * Checks signing's statement of the list. When the statement is ok, the text of the finding is
 * empty or names the end of the delegation; the caller appends it to its own finding.
 */
async function checkStatement(answer: Answer, root: string | undefined, nowMs: number): Promise<Finding> {
  const [statement = null, signature = null] = ["statement", "signature"].map((name) =>
    answer.headers.get(`vidimus-trust-${name}`),
  );
  try {
    const { delegatedUntil } = await verifyTrustList({ body: answer.body, statement, signature }, { root }, nowMs);
    if (!delegatedUntil) return ok(check, "");
    const until = `delegated until ${delegatedUntil.toISOString()}`;
    if (delegatedUntil.getTime() - nowMs > delegationDaysMin * dayMs) return ok(check, `, ${until}`);
    const remedy = "Have the offline root delegate anew: docs/keys.md, The offline root.";
    return warning(check, `its list key is ${until}; verifiers that pin the root refuse it then`, remedy);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const remedy = "Receivers refuse this list. See docs/keys.md, The list is stated; and what stands between.";
    return broken(check, `is refused: ${error.message}`, remedy);
  }
}

function checkKeys(keys: readonly unknown[]): Finding | undefined {
  const remedy =
    "Receivers cannot verify with this key. Compare with TrustListService.ListKeys of the signing service.";
  for (const key of keys) {
    const fault = isJsonObject(key) ? faultOf(key) : "is no object";
    if (fault) return broken(check, `key ${isJsonObject(key) ? String(key["keyId"]) : "?"} ${fault}`, remedy);
  }
  return undefined;
}

function faultOf({ keyId, algorithm, publicKey, validFrom }: Readonly<Record<string, unknown>>): string | undefined {
  if (algorithm !== "ed25519" || typeof publicKey !== "string") return "is no ed25519 key";
  const der = Buffer.from(publicKey, "base64");
  try {
    const { asymmetricKeyType } = createPublicKey({ key: der, format: "der", type: "spki" });
    if (asymmetricKeyType !== "ed25519") return `is a key for ${asymmetricKeyType}`;
  } catch {
    return "cannot be read as SPKI DER";
  }
  const digest = createHash("sha256").update(der).digest("base64url");
  if (keyId !== `ed25519-${digest.slice(0, 16)}`) return "does not have the id that follows from it";
  return Number.isNaN(Date.parse(String(validFrom))) ? "has no validFrom" : undefined;
}

function checkActive(
  active: unknown,
  keys: readonly Readonly<Record<string, unknown>>[],
  nowMs: number,
): Finding | undefined {
  const current = keys.filter(({ validUntil }) => validUntil === null);
  if (active === null && current.length === 0) {
    const remedy = "Start the signing service with SIGNING=on and SIGNING_KEK_FILE, if webhooks are to go out.";
    return warning(check, "signing is off: snapshots wait, nothing is delivered", remedy);
  }
  const [key, second] = current;
  if (!key || second || key["keyId"] !== active) {
    const named = current.map(({ keyId }) => String(keyId)).join(", ") || "none";
    const remedy = "Stop publishing and look at the ring document in vidimus_signing: exactly one key must be active.";
    return broken(check, `active is ${String(active)}, without an end is ${named}`, remedy);
  }
  if (Date.parse(String(key["validFrom"])) <= nowMs + 60_000) return undefined;
  const remedy = "Check the clocks: receivers that look at validFrom refuse what it signs.";
  return warning(check, `${String(active)} signs, but is valid only from ${String(key["validFrom"])}`, remedy);
}

function checkAge(headers: Headers): Finding | undefined {
  const maxAge = Number(/(?:^|[\s,])max-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1] ?? Number.NaN);
  const age = Number(headers.get("age") ?? 0);
  const remedy = `Let proxies before the gateway cache /api/keys for ${cacheSecondsMax} s at most.`;
  if (!(maxAge <= cacheSecondsMax)) return warning(check, "may be cached for more than an hour, or for ever", remedy);
  return age > cacheSecondsMax ? warning(check, `came from a cache and is ${age} s old`, remedy) : undefined;
}
