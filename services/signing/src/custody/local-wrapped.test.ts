import { ConfigError } from "@vidimus/kit/env";
import { createPublicKey, createSecretKey, verify } from "node:crypto";
import { expect, test } from "vitest";
import type { CustodyKey } from "../domain/key-custody.ts";
import { keyIdOf } from "../domain/key-id.ts";
import { localWrappedCustody } from "./local-wrapped.ts";

const custody = localWrappedCustody(createSecretKey(Buffer.alloc(32, 7)));
const message = Buffer.from("a statement");

function withEnvelope(key: CustodyKey, envelope: Uint8Array): CustodyKey {
  return { ...key, sealed: { ...key.sealed, envelope } };
}

test("a sealed key can be opened and signs, also in a process that did not make it", async () => {
  const key = await custody.generate();
  const restarted = localWrappedCustody(createSecretKey(Buffer.alloc(32, 7)));
  const signature = await (await restarted.open(key)).sign(message);
  const publicKey = createPublicKey({ key: Buffer.from(key.publicKey), format: "der", type: "spki" });
  expect(verify(null, message, publicKey, signature)).toBe(true);
  expect(key.keyId).toBe(keyIdOf(key.publicKey));
});

test("two keys have different ids, and their envelopes share only the header", async () => {
  const [a, b] = [await custody.generate(), await custody.generate()];
  expect(a.keyId).not.toBe(b.keyId);
  expect(Buffer.from(a.sealed.envelope).subarray(0, 9)).toEqual(Buffer.from(b.sealed.envelope).subarray(0, 9));
  expect(Buffer.from(a.sealed.envelope).subarray(9, 69)).not.toEqual(Buffer.from(b.sealed.envelope).subarray(9, 69));
});

test("one flipped bit anywhere in the envelope is refused", async () => {
  const key = await custody.generate();
  for (const position of key.sealed.envelope.keys()) {
    const envelope = Buffer.from(key.sealed.envelope);
    envelope.writeUInt8(envelope.readUInt8(position) ^ 1, position);
    await expect(custody.open(withEnvelope(key, envelope)), `byte ${position}`).rejects.toThrow(key.keyId);
  }
});

test("a truncated envelope is refused", async () => {
  const key = await custody.generate();
  for (const length of [0, 1, 9, 30, 69, key.sealed.envelope.length - 1]) {
    await expect(custody.open(withEnvelope(key, key.sealed.envelope.slice(0, length)))).rejects.toThrow(key.keyId);
  }
});

test("a sealed key does not open under another key's id or public key", async () => {
  const [a, b] = [await custody.generate(), await custody.generate()];
  await expect(custody.open({ ...a, keyId: b.keyId })).rejects.toThrow("was changed");
  await expect(custody.open({ ...a, publicKey: b.publicKey })).rejects.toThrow("was changed");
  await expect(custody.open({ ...a, keyId: b.keyId, publicKey: b.publicKey })).rejects.toThrow("was changed");
});

test("one key's data key does not open the other's private key", async () => {
  const [a, b] = [await custody.generate(), await custody.generate()];
  const mixed = Buffer.concat([a.sealed.envelope.subarray(0, 69), b.sealed.envelope.subarray(69)]);
  await expect(custody.open(withEnvelope(a, mixed))).rejects.toThrow("was changed");
});

test("a wrong KEK is a ConfigError that says so, without a byte of either KEK", async () => {
  const key = await custody.generate();
  const opening = localWrappedCustody(createSecretKey(Buffer.alloc(32, 8))).open(key);
  await expect(opening).rejects.toThrow(/^wrong KEK: the signing key ed25519-\S+ is wrapped by .* SIGNING_KEK_FILE/);
  await expect(opening).rejects.toBeInstanceOf(ConfigError);
  await expect(opening).rejects.not.toThrow(/(07){4}|(08){4}/);
});

test("a key of another custody is refused, naming that custody", async () => {
  const key = await custody.generate();
  const remote = { ...key, sealed: { ...key.sealed, custody: "remote-kms" } };
  await expect(custody.open(remote)).rejects.toThrow('is in the custody "remote-kms"');
});

test("a seal key makes the same MACs after it was opened again, and two make different ones", async () => {
  const [a, b] = [await custody.generateSealKey(), await custody.generateSealKey()];
  const macs = await Promise.all([a, a, b].map(async (sealed) => (await custody.openSealKey(sealed)).mac(message)));
  expect(macs[0]).toEqual(macs[1]);
  expect(macs[0]).not.toEqual(macs[2]);
});

test("a seal key that was changed, or is wrapped by another KEK, does not open", async () => {
  const sealed = await custody.generateSealKey();
  for (const position of sealed.envelope.keys()) {
    const envelope = Buffer.from(sealed.envelope);
    envelope.writeUInt8(envelope.readUInt8(position) ^ 1, position);
    await expect(custody.openSealKey({ ...sealed, envelope }), `byte ${position}`).rejects.toThrow(
      "seal of the key ring",
    );
  }
  const other = localWrappedCustody(createSecretKey(Buffer.alloc(32, 8)));
  await expect(other.openSealKey(sealed)).rejects.toThrow(/^wrong KEK: the seal of the key ring/);
});
