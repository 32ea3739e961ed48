/** What every custody does, whether the database or a KMS keeps the keys. */
import { ConfigError } from "@vidimus/kit/env";
import { createPublicKey, createSecretKey, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { localWrappedCustody } from "../src/custody/local-wrapped.ts";
import type { CustodyKey, KeyCustody } from "../src/domain/key-custody.ts";
import { keyIdOf } from "../src/domain/key-id.ts";
import { remoteCustody } from "./support/remote-custody.ts";

const message = Buffer.from("a statement");
const kek = (byte: number) => createSecretKey(Buffer.alloc(32, byte));
const kms = remoteCustody();

/** A custody, the same one in another process, and that process after its KEK was replaced. */
const custodies: readonly [string, KeyCustody, KeyCustody, KeyCustody][] = [
  ["local-wrapped", localWrappedCustody(kek(7)), localWrappedCustody(kek(7)), localWrappedCustody(kek(8), kek(7))],
  ["remote-kms", kms, kms, kms],
];

function withEnvelope(key: CustodyKey, envelope: Uint8Array): CustodyKey {
  return { ...key, sealed: { ...key.sealed, envelope } };
}

async function signs(custody: KeyCustody, key: CustodyKey): Promise<boolean> {
  const signature = await (await custody.open(key)).sign(message);
  const publicKey = createPublicKey({ key: Buffer.from(key.publicKey), format: "der", type: "spki" });
  return verify(null, message, publicKey, signature);
}

describe.each(custodies)("the custody %s", (name, custody, restarted, renewed) => {
  test("makes keys that sign, also in a process that did not make them", async () => {
    const key = await custody.generate();
    expect(key.keyId).toBe(keyIdOf(key.publicKey));
    expect(key.sealed.custody).toBe(name);
    for (const each of [custody, restarted]) expect(await signs(each, key)).toBe(true);
  });

  test("makes another key each time", async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => custody.generate()));
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(8);
  });

  test("refuses an envelope with a flipped bit in any of its bytes", async () => {
    const key = await custody.generate();
    for (const position of key.sealed.envelope.keys()) {
      const envelope = Buffer.from(key.sealed.envelope);
      envelope.writeUInt8(envelope.readUInt8(position) ^ 1, position);
      await expect(custody.open(withEnvelope(key, envelope)), `byte ${position}`).rejects.toThrow(key.keyId);
      await expect(custody.rewrap(withEnvelope(key, envelope)), `byte ${position}`).rejects.toThrow(key.keyId);
    }
  });

  test("refuses a truncated envelope", async () => {
    const key = await custody.generate();
    for (const length of [0, 1, 9, key.sealed.envelope.length - 1]) {
      await expect(custody.open(withEnvelope(key, key.sealed.envelope.slice(0, length)))).rejects.toThrow(key.keyId);
    }
  });

  test("does not open a key under the id or the public key of another", async () => {
    const [a, b] = [await custody.generate(), await custody.generate()];
    await expect(custody.open({ ...a, keyId: b.keyId })).rejects.toThrow("was changed");
    await expect(custody.open({ ...a, publicKey: b.publicKey })).rejects.toThrow("was changed");
    await expect(custody.open({ ...a, keyId: b.keyId, publicKey: b.publicKey })).rejects.toThrow("was changed");
  });

  test("refuses a key of another custody with an error that names that custody", async () => {
    const key = await custody.generate();
    const elsewhere = { ...key, sealed: { ...key.sealed, custody: "elsewhere" } };
    const opening = custody.open(elsewhere);
    await expect(opening).rejects.toThrow('is in the custody "elsewhere"');
    await expect(opening).rejects.toBeInstanceOf(ConfigError);
    await expect(custody.openSealKey(elsewhere.sealed)).rejects.toThrow('is in the custody "elsewhere"');
  });

  test("makes the same MACs with a seal key that another process opened", async () => {
    const sealed = await custody.generateSealKey();
    const macs = [await custody.openSealKey(sealed), await restarted.openSealKey(sealed)];
    const [one, two] = await Promise.all(macs.map((key) => key.mac(message)));
    expect(one).toHaveLength(32);
    expect(Buffer.from(two!)).toEqual(Buffer.from(one!));
  });

  test("makes other MACs with another seal key", async () => {
    const [a, b] = [await custody.generateSealKey(), await custody.generateSealKey()];
    const macs = [await custody.openSealKey(a), await custody.openSealKey(b)];
    const [one, other] = await Promise.all(macs.map((key) => key.mac(message)));
    expect(Buffer.from(other!)).not.toEqual(Buffer.from(one!));
  });

  test("does not open a seal key that was changed", async () => {
    const sealed = await custody.generateSealKey();
    for (const position of sealed.envelope.keys()) {
      const envelope = Buffer.from(sealed.envelope);
      envelope.writeUInt8(envelope.readUInt8(position) ^ 1, position);
      await expect(custody.openSealKey({ ...sealed, envelope }), `byte ${position}`).rejects.toThrow(
        "seal of the key ring",
      );
    }
  });

  async function rewrapBoth() {
    const key = await custody.generate();
    const seal = await custody.generateSealKey();
    const rewrapped = { ...key, sealed: await renewed.rewrap(key) };
    return { seal, rewrapped, newSeal: await renewed.rewrapSealKey(seal) };
  }

  test("signs with a key that it has rewrapped", async () => {
    expect(await signs(renewed, (await rewrapBoth()).rewrapped)).toBe(true);
  });

  test("makes the same MACs with a seal key that it has rewrapped", async () => {
    const { seal, newSeal } = await rewrapBoth();
    const macs = [
      await (await custody.openSealKey(seal)).mac(message),
      await (await renewed.openSealKey(newSeal)).mac(message),
    ];
    expect(Buffer.from(macs[1]!)).toEqual(Buffer.from(macs[0]!));
  });

  test("changes nothing when it rewraps a key or a seal key a second time", async () => {
    const { rewrapped, newSeal } = await rewrapBoth();
    expect(await renewed.rewrap(rewrapped)).toBe(rewrapped.sealed);
    expect(await renewed.rewrapSealKey(newSeal)).toBe(newSeal);
  });

  test("wraps a new key with the KEK of its ring's seal, be it the old or the newest", async () => {
    const key = await renewed.generate(await custody.generateSealKey());
    expect(await signs(custody, key)).toBe(true);
    const newest = await renewed.generate(await renewed.generateSealKey());
    expect((await renewed.rewrap(newest)) === newest.sealed).toBe(true);
  });
});
