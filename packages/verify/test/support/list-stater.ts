import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

interface Stating {
  readonly revision?: number;
  /** Milliseconds since 1970. */
  readonly issuedAt?: number;
  /** Null for none. Default: the root's delegation to the list key for a year. */
  readonly delegation?: string | null;
}

/** An answer of `GET /api/keys`. */
export interface StatedAnswer {
  readonly body: string;
  readonly headers: Readonly<Record<"vidimus-trust-statement" | "vidimus-trust-signature", string>>;
}

const yearMs = 365 * 86_400_000;

/**
 * A new list key and a new offline root, which sign statements and delegations as the platform's
 * do.
 */
export function listStater() {
  const [rootKey, listKey] = [newKey(), newKey()];
  const delegate = (validUntil: number, root = rootKey.privateKey, { id, spki } = listKey) => {
    const lines = ["vidimus-trust-root-v1", id, spki, new Date(validUntil).toISOString()];
    return [...lines, signature(root, lines.join("\n"))].join("\n");
  };
  const state = (
    list: object | string,
    { revision = 1, issuedAt = Date.now(), delegation }: Stating = {},
  ): StatedAnswer => {
    const body = typeof list === "string" ? list : JSON.stringify(list);
    const digest = createHash("sha256").update(body).digest("hex");
    const statement = ["vidimus-trust-v1", revision, new Date(issuedAt).toISOString(), digest].join("\n");
    const members = [
      `keyid="${listKey.id}"`,
      `key=:${listKey.spki}:`,
      `sig=:${signature(listKey.privateKey, statement)}:`,
    ];
    const delegated = delegation === undefined ? delegate(issuedAt + yearMs) : delegation;
    if (delegated !== null) members.push(`delegation=:${base64(delegated)}:`);
    const headers = { "vidimus-trust-statement": base64(statement), "vidimus-trust-signature": members.join(", ") };
    return { body, headers };
  };
  return { root: rootKey.spki, rootKey, listKey: listKey.spki, delegate, state };
}

/** A new Ed25519 key, with its id and its public key as base64 of SPKI DER. */
export function newKey() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const der = publicKey.export({ format: "der", type: "spki" });
  const id = `ed25519-${createHash("sha256").update(der).digest("base64url").slice(0, 16)}`;
  return { id, spki: der.toString("base64"), privateKey };
}

function signature(key: KeyObject, text: string): string {
  return sign(null, Buffer.from(text), key).toString("base64");
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
