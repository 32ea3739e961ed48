import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { ListKey } from "./key-ring.ts";

const dayMs = 86_400_000;

/**
 * Most days for which a delegation may last from its installation. A list key may be stolen, and
 * receivers that know the root refuse its lists only when its delegation has ended.
 */
const delegationDaysMax = 400;

const lines = [
  "(?<signed>vidimus-trust-root-v1",
  "(?<keyId>ed25519-[A-Za-z0-9_-]{16})",
  "(?<publicKey>[A-Za-z0-9+/]+={0,2})",
  String.raw`(?<validUntil>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z))`,
  "(?<signature>[A-Za-z0-9+/]{86}==)",
];
const format = new RegExp(`^${lines.join("\n")}$`);

/** The end of a delegation; undefined when the text is not one. */
export function delegationEnd(delegation: string): Date | undefined {
  const end = new Date(format.exec(delegation)?.groups?.["validUntil"] ?? "");
  return Number.isNaN(end.getTime()) ? undefined : end;
}

interface DelegationRule {
  readonly listKey: Pick<ListKey, "keyId" | "publicKey">;
  /** SPKI DER. */
  readonly rootPublicKey: Uint8Array;
  readonly now: Date;
}

/** Why a delegation must not be installed; undefined when it may. */
export function delegationFault(
  delegation: string,
  { listKey, rootPublicKey, now }: DelegationRule,
): string | undefined {
  const { signed = "", keyId, publicKey, signature = "" } = format.exec(delegation)?.groups ?? {};
  const end = delegationEnd(delegation);
  if (!end) return "is not the five lines of a delegation";
  if (keyId !== listKey.keyId || publicKey !== Buffer.from(listKey.publicKey).toString("base64")) {
    return `is of the key ${keyId}, and the list key is ${listKey.keyId}`;
  }
  const root = ed25519KeyOf(rootPublicKey);
  if (!root) return "cannot be verified: the root is no Ed25519 public key";
  if (!verify(null, Buffer.from(signed), root, Buffer.from(signature, "base64"))) return "was not signed by this root";
  if (end <= now) return `has ended, at ${end.toISOString()}`;
  const isLong = end.getTime() - now.getTime() > delegationDaysMax * dayMs;
  return isLong ? `ends in more than ${delegationDaysMax} days` : undefined;
}

function ed25519KeyOf(spki: Uint8Array): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined;
  }
}
