/** Sections 4.8 and 2.3: `GET /api/keys`, the trust list. */
import { beforeAll, describe, expect, test } from "vitest";
import { verifyTrustList } from "../../packages/verify/src/verify.ts";
import { openNewsroom } from "../support/newsroom.ts";
import type { TrustedKey } from "../support/webhook-checks.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

interface TrustList {
  active: string | null;
  keys: TrustedKey[];
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
let stack: SharedConstellation;

beforeAll(async () => {
  stack = await sharedConstellation();
});

const fetchKeys = (init?: RequestInit) => fetch(`${stack.dev.gateway}/api/keys`, init);

/** Verifies an answer as a receiver that knows no root does. */
function verified({ headers }: Response, body: string, listKey?: string) {
  const [statement, signature] = ["statement", "signature"].map((name) => headers.get(`vidimus-trust-${name}`));
  return verifyTrustList({ body, statement: statement ?? null, signature: signature ?? null }, { listKey });
}

const readKeys = async () => (await (await fetchKeys()).json()) as TrustList;

describe("4.8: the answer", () => {
  test("is an object of active and keys, without an envelope", async () => {
    const answer = await fetchKeys();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(Object.keys((await answer.json()) as object)).toEqual(["active", "keys"]);
  });

  test("is the same without an Authorization header and with an empty, a wrong or a valid one", async () => {
    using room = openNewsroom(stack.dev);
    const list = await readKeys();
    for (const authorization of ["", "Bearer nonsense", "Basic eDp5", `Bearer ${room.apiKey}`]) {
      const answer = await fetchKeys({ headers: { authorization } });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual(list);
    }
  });

  test("names exactly one of the listed keys as active", async () => {
    const { active, keys } = await readKeys();
    expect(active).not.toBeNull();
    expect(keys.filter(({ keyId }) => keyId === active)).toHaveLength(1);
  });

  test("may be read by pages of every origin", async () => {
    const { headers } = await fetchKeys({ headers: { origin: "https://example.org" } });
    expect(headers.get("access-control-allow-origin")).toBe("*");
  });

  test("has no member for a private key or a secret", async () => {
    expect(await (await fetchKeys()).text()).not.toMatch(/private|secret|sealed|"d"/i);
  });
});

describe("2.3: an entry", () => {
  test("has exactly keyId, algorithm, publicKey, validFrom and validUntil", async () => {
    const { keys } = await readKeys();
    for (const entry of keys) {
      expect(entry).toEqual({
        keyId: expect.stringMatching(/^ed25519-[\w-]{16}$/) as string,
        algorithm: "ed25519",
        publicKey: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) as string,
        validFrom: expect.stringMatching(instant) as string,
        validUntil: entry.validUntil === null ? null : (expect.stringMatching(instant) as string),
      });
    }
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(keys.length);
  });

  test("has an Ed25519 key as SPKI DER for its publicKey, from which its keyId follows", async () => {
    for (const { keyId, publicKey } of (await readKeys()).keys) {
      const spki = Uint8Array.from(Buffer.from(publicKey, "base64"));
      const key = await crypto.subtle.importKey("spki", spki, "Ed25519", true, ["verify"]);
      expect(Buffer.from(await crypto.subtle.exportKey("spki", key)).toString("base64")).toBe(publicKey);
      const digest = Buffer.from(await crypto.subtle.digest("SHA-256", spki)).toString("base64url");
      expect(keyId).toBe(`ed25519-${digest.slice(0, 16)}`);
    }
  });

  test("has null for its validUntil when its key is the active one, and only then", async () => {
    const { active, keys } = await readKeys();
    expect(keys.filter(({ validUntil }) => validUntil === null).map(({ keyId }) => keyId)).toEqual([active]);
    const { validFrom } = keys.find(({ keyId }) => keyId === active)!;
    expect(Date.parse(validFrom)).toBeLessThanOrEqual(Date.now());
  });

  test("of the next signing key is listed more than three hours before its validFrom", async () => {
    const { active, keys } = await readKeys();
    const next = keys.filter(({ keyId, validFrom }) => keyId !== active && Date.parse(validFrom) > Date.now());
    expect(next).toHaveLength(1);
    // Clients cache the list for an hour; this is three times that.
    expect(Date.parse(next[0]!.validFrom) - Date.now()).toBeGreaterThan(3 * 3_600_000);
    expect(next[0]!.validUntil! > next[0]!.validFrom).toBe(true);
  });
});

describe("8: the trust list", () => {
  test("may be kept for an hour by every cache", async () => {
    expect((await fetchKeys()).headers.get("cache-control")).toMatch(/^public, max-age=3600\b/);
  });

  test("is 304 for its own ETag, and 200 for another", async () => {
    const etag = (await fetchKeys()).headers.get("etag")!;
    const answer = await fetchKeys({ headers: { "if-none-match": etag } });
    expect([answer.status, await answer.text()]).toEqual([304, ""]);
    expect((await fetchKeys({ headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });

  test("answers HEAD with its ETag and without a body", async () => {
    const answer = await fetchKeys({ method: "HEAD" });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect(answer.headers.get("etag")).toBe((await fetchKeys()).headers.get("etag"));
  });
});

describe("4.8: the signed statement about the list", () => {
  test("of a 200 and of the 304 after it holds for the list of the 200, with the same revision", async () => {
    const answer = await fetchKeys();
    const body = await answer.text();
    const { keys, listKey, revision } = await verified(answer, body);
    expect(revision).toBeGreaterThan(0);
    expect(keys).toEqual((JSON.parse(body) as TrustList).keys);
    const unchanged = await fetchKeys({ headers: { "if-none-match": answer.headers.get("etag")! } });
    expect(unchanged.status).toBe(304);
    expect(await verified(unchanged, body, listKey)).toMatchObject({ revision });
  });

  test("may be read by pages of every origin", async () => {
    const { headers } = await fetchKeys({ headers: { origin: "https://example.org" } });
    expect(headers.get("access-control-allow-origin")).toBe("*");
    const exposed = headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["vidimus-trust-statement", "vidimus-trust-signature"]));
  });

  test("does not hold for a changed list", async () => {
    const answer = await fetchKeys();
    const body = await answer.text();
    const another = body.replace('"validFrom":"2', '"validFrom":"1');
    await expect(verified(answer, another)).rejects.toThrow("digest: another list was stated");
  });
});

describe("4.8: a development setup without signing", () => {
  test("lists no key as active, and so none without a validUntil", async () => {
    const unsigned = await sharedConstellation({ env: { SIGNING: "off" } });
    const answer = await fetch(`${unsigned.dev.gateway}/api/keys`);
    expect(answer.status).toBe(200);
    const body = await answer.text();
    expect(await verified(answer, body)).toMatchObject({ active: null });
    const list = JSON.parse(body) as TrustList;
    expect(list.active).toBeNull();
    expect(list.keys.filter(({ validUntil }) => validUntil === null)).toEqual([]);
  });
});
