import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type TrustedKey, verifyDelivery, type VerificationError, verifySnapshot } from "./verify.ts";
import { vector } from "./webhook-vector.ts";

const entry = {
  keyId: vector.keyId,
  algorithm: "ed25519",
  publicKey: vector.publicKeyBase64,
  validFrom: "2026-11-01T00:00:00.000Z",
  validUntil: null,
};
const genuine = { headers: vector.headers as Record<string, string>, body: Buffer.from(vector.bodyBase64, "base64") };
const options = { secret: vector.secret, keys: [entry], now: () => vector.at.getTime() };

async function faultOf(request: typeof genuine, change: Partial<Parameters<typeof verifyDelivery>[1]> = {}) {
  const failure = await verifyDelivery(request, { ...options, ...change }).catch((error: VerificationError) => error);
  return "fault" in failure ? failure.fault : "none";
}

/** A delivery with headers that fit its body, as one who knows the secret makes it. */
function sealed(
  body: Buffer<ArrayBuffer>,
  { secret = vector.secret, id = vector.headers["webhook-id"] } = {},
): typeof genuine {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const timestamp = vector.headers["webhook-timestamp"];
  const value = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const digest = createHash("sha256").update(body).digest("base64");
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${value}`,
    "content-digest": `sha-256=:${digest}:`,
  };
  return { headers, body };
}

const resealed = (find: string, replacement: string) => {
  const text = genuine.body.toString();
  expect(text).toContain(find);
  return sealed(Buffer.from(text.replace(find, replacement)));
};

describe("a genuine delivery", () => {
  it("is returned with everything that was signed", async () => {
    expect(await verifyDelivery(genuine, options)).toEqual({
      kind: "snapshot",
      webhookId: "snp_0f6ac51452484d4f671082cecc54af2b_12",
      type: "snapshot.usable",
      documentType: "core/article",
      tenantId: "ten_acme",
      documentId: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10",
      sequence: 12,
      version: 7,
      status: "usable",
      signedAt: new Date("2026-11-21T09:30:00.123Z"),
      keyId: vector.keyId,
      sha256: vector.sha256,
      snapshot: JSON.parse(Buffer.from(vector.snapshotBase64, "base64").toString()),
      bytes: new Uint8Array(Buffer.from(vector.snapshotBase64, "base64")),
      signature: { keyId: vector.keyId, statement: vector.statement, value: vector.signatureBase64 },
    });
  });

  it("is accepted in every form of headers and body that DeliveryRequest allows", async () => {
    const request = new Request("https://receiver.example/", { method: "POST", ...genuine });
    const shouting = Object.fromEntries(
      Object.entries(genuine.headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const { buffer, byteOffset, byteLength } = genuine.body;
    const forms = [
      request,
      { ...genuine, headers: shouting },
      { ...genuine, headers: new Headers(genuine.headers) },
      { ...genuine, headers: { ...genuine.headers, "webhook-id": [genuine.headers["webhook-id"]!] } },
      { ...genuine, body: genuine.body.toString() },
      { ...genuine, body: buffer.slice(byteOffset, byteOffset + byteLength) },
    ];
    for (const form of forms) expect(await verifyDelivery(form, options)).toMatchObject({ sequence: 12 });
  });

  const other = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;

  it("is accepted when one of two secrets is right", async () => {
    for (const secret of [
      [other, vector.secret],
      [vector.secret, other],
    ]) {
      expect(await faultOf(genuine, { secret })).toBe("none");
    }
  });

  it("is accepted when one of several signatures is right", async () => {
    const old = sealed(genuine.body, { secret: other }).headers["webhook-signature"]!;
    const right = genuine.headers["webhook-signature"]!;
    for (const both of [`${old} ${right}`, `${right} ${old}`, `v2,AAAA v1a,AAAA ${right}`]) {
      expect(await faultOf({ ...genuine, headers: { ...genuine.headers, "webhook-signature": both } })).toBe("none");
    }
  });

  it("passes the HMAC check whatever base64 character its HMAC begins with", async () => {
    const firsts = new Set<string>();
    for (let end = 0; firsts.size < 64; end += 1) {
      const request = sealed(Buffer.concat([genuine.body, Buffer.alloc(end, " ")]));
      firsts.add(request.headers["webhook-signature"]!.charAt(3));
      expect(await faultOf(request)).toBe(end === 0 ? "none" : "body");
    }
  });

  it("is accepted when it was signed in the last millisecond of its key's validity", async () => {
    const retired = [{ ...entry, validUntil: "2026-11-21T09:30:00.123Z" }];
    expect(await faultOf(genuine, { keys: retired })).toBe("none");
  });

  it("is accepted five minutes early and late, and not a second more", async () => {
    for (const [seconds, fault] of [
      [300, "none"],
      [-300, "none"],
      [301, "clock"],
      [-301, "clock"],
    ] as const) {
      expect(await faultOf(genuine, { now: () => vector.at.getTime() + seconds * 1000 })).toBe(fault);
    }
  });
});

describe("the fault of a refused delivery", () => {
  const flipped = Buffer.from(genuine.body);
  flipped[200]! ^= 1;

  it.each<[string, typeof genuine]>([
    ["the body was changed", { ...genuine, body: flipped }],
    ["a framework has parsed the body", { ...genuine, body: JSON.parse(genuine.body.toString()) }],
    ["the body is no JSON", sealed(Buffer.from("not JSON"))],
    ["the body is a JSON array", sealed(Buffer.from("[]"))],
    ["the id in the body is not webhook-id", sealed(genuine.body, { id: "snp_other_1" })],
    ["there are no headers", { ...genuine, headers: {} }],
  ])("is `body` when %s", async (_what, request) => {
    expect(await faultOf(request)).toBe("body");
  });

  it.each<[string, string | string[]]>([
    ["the secret is wrong", `whsec_${Buffer.alloc(32, 3).toString("base64")}`],
    ["the secret is empty", "whsec_"],
    ["the secret is malformed", "päss"],
    ["no secret is given", []],
  ])("is `secret` when %s", async (_what, secret) => {
    expect(await faultOf(genuine, { secret })).toBe("secret");
  });

  it("is `secret` when the body was changed and there is no content-digest", async () => {
    const { "content-digest": _, ...headers } = genuine.headers;
    expect(await faultOf({ headers, body: Buffer.from("{}") })).toBe("secret");
  });

  it("is `secret`, not `clock`, when webhook-timestamp was changed to ten minutes earlier", async () => {
    const headers = { ...genuine.headers, "webhook-timestamp": String(vector.at.getTime() / 1000 - 600) };
    expect(await faultOf({ ...genuine, headers })).toBe("secret");
  });

  const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ type: "spki", format: "der" });

  it.each<[string, TrustedKey[]]>([
    ["the trust list is empty", []],
    ["only another key is listed", [{ ...entry, keyId: "ed25519-AAAAAAAAAAAAAAAA" }]],
    ["the key was valid only after the signing time", [{ ...entry, validFrom: "2026-11-21T09:30:00.124Z" }]],
    ["the key was valid only before the signing time", [{ ...entry, validUntil: "2026-11-21T09:30:00.122Z" }]],
    ["the entry's validFrom is malformed", [{ ...entry, validFrom: "soon" }]],
    ["the entry has the public key of another id", [{ ...entry, publicKey: otherKey().listed.publicKey }]],
    ["the entry has a P-256 key", [{ ...entry, publicKey: p256.toString("base64") }]],
    ["the entry's public key is malformed", [{ ...entry, publicKey: "?" }]],
    ["the entry's algorithm is not ed25519", [{ ...entry, algorithm: "ed448" }]],
  ])("is `key` when %s", async (_what, keys) => {
    expect(await faultOf(genuine, { keys })).toBe("key");
  });

  it.each([
    ["is malformed", "vidimus-snapshot-v1\\n", "vidimus-snapshot-v2\\n"],
    ["was changed after it was signed", "ten_acme\\n", "ten_acma\\n"],
    ["has a changed signature", vector.signatureBase64, `${vector.signatureBase64.slice(0, 80)}AAAAAAA=`],
    ["names another key than data.signature.keyId", '"keyId":"ed25519-_RENMB', '"keyId":"ed25519-_RENMA'],
  ])("is `signature` when the statement %s", async (_what, find, replacement) => {
    expect(await faultOf(resealed(find, replacement))).toBe("signature");
  });

  it.each(["09:60:00.123Z", "24:00:00.001Z", "09:30:60.123Z"])(
    "is `signature` when the statement's time does not exist: %s",
    async (time) => {
      expect(await faultOf(resealed("09:30:00.123Z\\n", `${time}\\n`))).toBe("signature");
    },
  );

  it("is `signature` when the type, or a member of data beside the snapshot, is not what was signed", async () => {
    const changes = [
      ['"tenantId":"ten_acme"', '"tenantId":"ten_acma"'],
      ['"documentId":"7b', '"documentId":"7c'],
      ['"documentType":"core/article"', '"documentType":"core/image"'],
      ['"version":7,"status"', '"version":8,"status"'],
      ['"status":"usable","sequence"', '"status":"withheld","sequence"'],
      ['"sequence":12', '"sequence":13'],
      ['"type":"snapshot.usable"', '"type":"snapshot.withheld"'],
    ] as const;
    for (const [find, replacement] of changes) expect(await faultOf(resealed(find, replacement))).toBe("signature");
  });

  it("is `digest` when the snapshot's bytes are not the signed ones, even if both mean the same", async () => {
    expect(await faultOf(resealed('"priority":0.1', '"priority":0.2'))).toBe("digest");
    expect(await faultOf(resealed('"n":1e+21', '"n":1e21'))).toBe("digest");
    expect(await faultOf(resealed('"z":0}', '"z":0 }'))).toBe("digest");
  });

  it("is `body` when a second snapshot stands before or behind the signed one", async () => {
    expect(await faultOf(resealed(',"snapshot":{', ',"snapshot":{},"snapshot":{'))).toBe("body");
    expect(await faultOf(sealed(Buffer.from(`${genuine.body.toString().slice(0, -2)},"snapshot":{}}}`)))).toBe("body");
  });
});

describe("a message about the endpoint", () => {
  const body = Buffer.from(
    '{"id":"ping_1","type":"endpoint.ping","timestamp":"2026-11-21T09:30:00.000Z","data":{"a":1}}',
  );

  it("is returned as an event with its id, type and data", async () => {
    const ping = await verifyDelivery(sealed(body, { id: "ping_1" }), options);
    expect(ping).toEqual({ kind: "event", webhookId: "ping_1", type: "endpoint.ping", data: { a: 1 } });
  });

  it("is refused when its body was changed on the way", async () => {
    const changed = Buffer.from(body.toString().replace('"a":1', '"a":2'));
    expect(await faultOf({ ...sealed(body, { id: "ping_1" }), body: changed })).toBe("body");
  });
});

describe("a snapshot that was kept", () => {
  const signature = { keyId: vector.keyId, statement: vector.statement, value: vector.signatureBase64 };
  const bytes = Buffer.from(vector.snapshotBase64, "base64");

  it("is verified years later with the retired key, without a secret", async () => {
    const keys = [{ ...entry, validUntil: "2027-02-01T00:00:00.000Z" }];
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2036-01-01T00:00:00.000Z") });
    onTestFinished(() => void vi.useRealTimers());
    expect(await verifySnapshot(bytes, signature, keys)).toMatchObject({ tenantId: "ten_acme", sequence: 12 });
  });

  it("is refused with a changed byte", async () => {
    const changed = Buffer.from(bytes);
    changed[20]! ^= 1;
    await expect(verifySnapshot(changed, signature, [entry])).rejects.toMatchObject({ fault: "digest" });
  });

  it("is refused with a signature of another key than its statement names", async () => {
    const { listed, privateKey } = otherKey();
    const statement = vector.statement.replace(vector.keyId, listed.keyId);
    const signed = {
      keyId: listed.keyId,
      statement,
      value: sign(null, Buffer.from(statement), privateKey).toString("base64"),
    };
    expect(await verifySnapshot(bytes, signed, [entry, listed])).toMatchObject({ keyId: listed.keyId });
    const value = sign(null, Buffer.from(statement), otherKey().privateKey).toString("base64");
    await expect(verifySnapshot(bytes, { ...signed, value }, [listed])).rejects.toMatchObject({ fault: "signature" });
  });
});

function otherKey(): { listed: typeof entry; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ type: "spki", format: "der" });
  const keyId = `ed25519-${createHash("sha256").update(spki).digest("base64url").slice(0, 16)}`;
  return { listed: { ...entry, keyId, publicKey: spki.toString("base64") }, privateKey };
}
