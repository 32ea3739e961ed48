import { ConfigError } from "@vidimus/kit/env";
import { createSecretKey } from "node:crypto";
import { expect, test } from "vitest";
import { localWrappedCustody } from "./local-wrapped.ts";

// test/custody-contract.test.ts tests what every custody must do.
const kek = (byte: number) => createSecretKey(Buffer.alloc(32, byte));
const custody = localWrappedCustody(kek(7));

test("the envelopes of two keys share only the header", async () => {
  const [a, b] = [await custody.generate(), await custody.generate()].map(({ sealed }) => Buffer.from(sealed.envelope));
  expect(a!.subarray(0, 9)).toEqual(b!.subarray(0, 9));
  for (let at = 9; at + 16 <= a!.length; at += 16) expect(b!.includes(a!.subarray(at, at + 16))).toBe(false);
});

test("the data key of one signing key does not open another's private key", async () => {
  const [a, b] = [await custody.generate(), await custody.generate()];
  const envelope = Buffer.concat([a.sealed.envelope.subarray(0, 69), b.sealed.envelope.subarray(69)]);
  await expect(custody.open({ ...a, sealed: { ...a.sealed, envelope } })).rejects.toThrow("was changed");
});

test("a wrong KEK is a ConfigError that names the settings, and shows no bytes of a KEK", async () => {
  const key = await custody.generate();
  const opening = localWrappedCustody(kek(8), kek(9)).open(key);
  await expect(opening).rejects.toThrow(
    /^wrong KEK: the signing key ed25519-\S+ is wrapped by .*; SIGNING_KEK_FILE holds \S+, SIGNING_OLD_KEK_FILE holds \S+$/,
  );
  await expect(opening).rejects.toBeInstanceOf(ConfigError);
  // In hex and in base64.
  await expect(opening).rejects.not.toThrow(/(07){4}|(08){4}|(09){4}|(BwcH|CAgI|CQkJ){2}/);
  const sealed = await custody.generateSealKey();
  await expect(localWrappedCustody(kek(8)).openSealKey(sealed)).rejects.toThrow(
    /^wrong KEK: the seal of the key ring is wrapped/,
  );
});

async function rewrapped() {
  const key = await custody.generate();
  const sealed = await localWrappedCustody(kek(8), kek(7)).rewrap(key);
  const [before, after] = [key.sealed, sealed].map(({ envelope }) => Buffer.from(envelope));
  return { key, sealed, before, after };
}

test("the envelope of a re-wrapped key repeats no part of the old one", async () => {
  const { before, after } = await rewrapped();
  for (let at = 1; at + 8 <= before!.length; at += 8) expect(after!.includes(before!.subarray(at, at + 8))).toBe(false);
});

test("the old KEK does not open a re-wrapped key", async () => {
  const { key, sealed, before, after } = await rewrapped();
  await expect(custody.open({ ...key, sealed })).rejects.toThrow("wrong KEK");
  // Nor does the old KEK open the new envelope when the header is that of the old one.
  const renamed = Buffer.concat([before!.subarray(0, 9), after!.subarray(9)]);
  await expect(custody.open({ ...key, sealed: { ...sealed, envelope: renamed } })).rejects.toThrow("was changed");
  await expect(localWrappedCustody(kek(8)).open({ ...key, sealed })).resolves.toBeDefined();
});
