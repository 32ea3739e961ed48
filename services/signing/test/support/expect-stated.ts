import type { ListKeysResponse } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { createPublicKey, hash, verify } from "node:crypto";
import { expect } from "vitest";

/**
 * Expects that the list key has stated exactly this list, for the present half hour.
 *
 * @returns the lines of the statement
 */
export function expectStated({ stated, body, revision, keys, activeKeyId }: ListKeysResponse): string[] {
  if (!stated) throw new Error("the list is not stated");
  const { statement, publicKey, keyId, signature } = stated;
  const lines = statement.split("\n");
  expect(lines).toHaveLength(4);
  expect([lines[0], lines[1], lines[3]]).toEqual(["vidimus-trust-v1", String(revision), hash("sha256", body)]);
  const ageMs = Date.now() - Date.parse(lines[2] ?? "");
  expect(ageMs).toBeGreaterThanOrEqual(0);
  expect(ageMs).toBeLessThan(1_800_000 + 60_000);
  expect(keyId).toBe(`ed25519-${hash("sha256", publicKey, "base64url").slice(0, 16)}`);
  const listKey = createPublicKey({ key: Buffer.from(publicKey), format: "der", type: "spki" });
  expect(verify(null, Buffer.from(statement), listKey, signature)).toBe(true);
  const list = JSON.parse(Buffer.from(body).toString()) as { active: string | null; keys: { keyId: string }[] };
  expect(Object.keys(list)).toEqual(["active", "keys"]);
  expect(list.active).toBe(activeKeyId || null);
  expect(list.keys.map((key) => key.keyId)).toEqual(keys.map((key) => key.keyId));
  expect(keys.map((key) => key.keyId)).not.toContain(keyId);
  return lines;
}
