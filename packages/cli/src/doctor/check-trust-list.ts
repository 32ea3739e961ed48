import { createHash, createPublicKey } from "node:crypto";
import { isJsonObject } from "../json-object.ts";
import { broken, type Finding, ok, warning } from "./finding.ts";

const check = "trust list";
const cacheSecondsMax = 3_600;

/** Checks the body of `GET /api/keys`, and for how long it may be cached and has been. */
export function checkTrustList(body: unknown, headers: Headers, nowMs: number): Finding {
  if (!isJsonObject(body) || !Array.isArray(body["keys"])) {
    return broken(
      check,
      "the answer is no trust list",
      "See what answers at the gateway's URL: it is not the gateway.",
    );
  }
  const { active } = body;
  const keys: unknown[] = body["keys"];
  return (
    checkKeys(keys) ??
    checkActive(active, keys.filter(isJsonObject), nowMs) ??
    checkAge(headers) ??
    ok(check, `${String(active)} signs, ${keys.length} listed`)
  );
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
