import { createPrivateKey, createPublicKey } from "node:crypto";
import { expect, test } from "vitest";
import { trustVector as vector } from "../../../../packages/verify/src/trust-vector.ts";
import { ed25519Signer } from "../custody/ed25519-signer.ts";
import { delegationEnd, delegationFault } from "./delegation.ts";
import { keyIdOf } from "./key-id.ts";
import type { KeyRing } from "./key-ring.ts";
import { RingFault } from "./sealed-ring.ts";
import { stateLists } from "./state-lists.ts";
import { stateList } from "./stated-list.ts";

const hourMs = 3_600_000;
const prefix = Buffer.from("302e020100300506032b657004220420", "hex");
const listSigner = ed25519Signer(privateKeyOf(4));
const sealed = { custody: "test", envelope: new Uint8Array() };
const listKey = {
  keyId: vector.listKeyId,
  publicKey: Buffer.from(vector.listKey, "base64"),
  sealed,
  delegation: undefined,
};
const ring = ringAt(vector.revision);

/** The private key whose seed is 32 bytes of one value. */
function privateKeyOf(byte: number) {
  const key = Buffer.concat([prefix, Buffer.alloc(32, byte)]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

function ringAt(revision: number): KeyRing {
  const publicKey = createPublicKey(privateKeyOf(1)).export({ type: "spki", format: "der" });
  const validFrom = new Date("2026-11-01T00:00:00.000Z");
  const key = { publicKey, validFrom, keyId: keyIdOf(publicKey), publishedAt: validFrom, activeSince: validFrom };
  return { revision, keys: [{ ...key, state: "active", validUntil: undefined, sealed }], listKey };
}

test("the test vector's ring gives the vector's body, statement and signature throughout a half hour", async () => {
  for (const laterMs of [0, 1, hourMs / 2 - 1]) {
    const now = new Date(vector.issuedAt.getTime() + laterMs);
    const { body, statement, signature } = await stateList(ring, now, listSigner);
    expect(body.toString()).toBe(vector.body);
    expect(statement).toBe(vector.statement);
    expect(Buffer.from(signature).toString("base64")).toBe(vector.signature);
  }
});

/** States lists of a ring, which a test may replace, at a time that it may change. */
function openLists() {
  const world = {
    clock: vector.issuedAt.getTime(),
    read: async (): Promise<KeyRing> => ring,
    faults: [] as unknown[],
  };
  const stated = stateLists({
    rings: { read: () => world.read() },
    custody: { open: async () => listSigner },
    now: () => new Date(world.clock),
    reportFault: (fault) => void world.faults.push(fault),
  });
  return { world, stated };
}

test("a list is stated anew each half hour", async () => {
  const { world, stated } = openLists();
  const first = await stated();
  world.clock += hourMs / 2 - 1;
  expect(await stated()).toBe(first);
  world.clock += 1;
  expect((await stated()).statement).toBe(first.statement.replace("T09:30", "T10:00"));
});

test("a list is stated anew when the ring has a newer revision, but not for an older one", async () => {
  const { world, stated } = openLists();
  await stated();
  world.read = async () => ringAt(6);
  const newer = await stated();
  expect(newer.statement.split("\n")[1]).toBe("6");
  world.read = async () => ring;
  expect(await stated()).toBe(newer);
});

test("while the ring is unusable, its last list stays in use", async () => {
  const { world, stated } = openLists();
  const last = await stated();
  world.read = () => Promise.reject(new RingFault("planted"));
  world.clock += hourMs;
  expect(await stated()).toBe(last);
  expect(world.faults).toHaveLength(1);
});

const rootPublicKey: Uint8Array = Buffer.from(vector.root, "base64");
const rule = { listKey, rootPublicKey, now: vector.issuedAt };

function faultOf(change: Partial<typeof rule>, delegation: string = vector.delegation): string | undefined {
  return delegationFault(delegation, { ...rule, ...change });
}

test("a delegation may be installed only for its list key, with the root that signed it", () => {
  expect(faultOf({})).toBeUndefined();
  expect(faultOf({ rootPublicKey: listKey.publicKey })).toContain("was not signed by this root");
  expect(faultOf({ rootPublicKey: new Uint8Array(44) })).toContain("no Ed25519 public key");
  expect(faultOf({ listKey: { ...listKey, keyId: "ed25519-another" } })).toContain("the list key is ed25519-another");
  expect(faultOf({ listKey: { ...listKey, publicKey: Buffer.from(rootPublicKey) } })).toContain("is of the key");
  expect(faultOf({}, vector.delegation.replace("2027-11-21", "2027-11-22"))).toContain("was not signed");
});

test("a delegation may be installed only in the 400 days before its end", () => {
  expect(delegationEnd(vector.delegation)).toEqual(vector.delegatedUntil);
  expect(faultOf({ now: new Date("2026-10-16T23:59:59.999Z") })).toContain("more than 400 days");
  expect(faultOf({ now: new Date("2026-10-17T00:00:00.000Z") })).toBeUndefined();
  expect(faultOf({ now: new Date(vector.delegatedUntil.getTime() - 1) })).toBeUndefined();
  expect(faultOf({ now: vector.delegatedUntil })).toContain("has ended");
});

test("a text that is not the five lines of a delegation is refused", () => {
  for (const text of [
    "",
    vector.statement,
    `${vector.delegation}\n`,
    vector.delegation.replace("2027-11-21", "2027-13-21"),
  ])
    expect(faultOf({}, text)).toContain("five lines");
});
