import { createHash, createHmac } from "node:crypto";
import { assert, asyncProperty, constantFrom, nat, oneof, record } from "fast-check";
import { expect, it } from "vitest";
import { type DeliveryStep, explainDelivery, type ExplainDeliveryOptions, verifyDelivery } from "./verify.ts";
import { vector } from "./webhook-vector.ts";

const entry = {
  keyId: vector.keyId,
  algorithm: "ed25519",
  publicKey: vector.publicKeyBase64,
  validFrom: "2026-11-01T00:00:00.000Z",
  validUntil: null,
};
const body = Buffer.from(vector.bodyBase64, "base64");
const genuine = { headers: { ...vector.headers } as Record<string, string>, body };
const at = vector.at.getTime();
const options: ExplainDeliveryOptions = { secrets: [vector.secret], keys: [entry], now: at, receivedAt: at };

async function explain(change: Partial<typeof genuine> = {}, changed: Partial<ExplainDeliveryOptions> = {}) {
  return explainDelivery({ ...genuine, ...change }, { ...options, ...changed });
}

const named = (steps: readonly DeliveryStep[], outcome: DeliveryStep["outcome"]) =>
  steps.filter((step) => step.outcome === outcome).map(({ check }) => check);
const detailOf = (steps: readonly DeliveryStep[], check: string) => steps.find((step) => step.check === check)?.detail;

/** A delivery with headers that fit its body, as one who knows the secret makes it. */
function sealed(text: string, id = vector.headers["webhook-id"]): typeof genuine {
  const key = Buffer.from(vector.secret.replace("whsec_", ""), "base64");
  const timestamp = vector.headers["webhook-timestamp"];
  const hmac = (before: string) => createHmac("sha256", key).update(before).update(text);
  return {
    headers: {
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${hmac(`${id}.${timestamp}.`).digest("base64")}`,
      "x-vidimus-signature-256": `sha256=${hmac("").digest("hex")}`,
      "content-digest": `sha-256=:${createHash("sha256").update(text).digest("base64")}:`,
    },
    body: Buffer.from(text),
  };
}

it("a genuine delivery passes every check, in a fixed order", async () => {
  const steps = await explain();
  expect(steps.map(({ check, outcome }) => `${check} ${outcome}`)).toEqual([
    "headers ok",
    "clock ok",
    "content-digest ok",
    "webhook-signature ok",
    "x-vidimus-signature-256 ok",
    "payload ok",
    "statement ok",
    "key ok",
    "signature ok",
    "digest ok",
    "envelope ok",
  ]);
});

it("without a secret the HMACs are unchecked, and all else is checked", async () => {
  const steps = await explain({}, { secrets: [] });
  expect(named(steps, "unchecked")).toEqual(["webhook-signature", "x-vidimus-signature-256"]);
  expect(named(steps, "failed")).toEqual([]);
});

it("the check `clock` is unchecked for an old delivery whose arrival time is unknown", async () => {
  const late = await explain({}, { now: at + 3_600_000, receivedAt: undefined } as never);
  expect(named(late, "unchecked")).toEqual(["clock"]);
});

it("the check `clock` fails for a delivery that arrived 301 s after it was sent", async () => {
  expect(named(await explain({}, { receivedAt: at + 301_000 }), "failed")).toEqual(["clock"]);
});

it("the check `clock` fails for a delivery from the future, though its arrival time is unknown", async () => {
  expect(named(await explain({}, { now: at - 301_000, receivedAt: undefined } as never), "failed")).toEqual(["clock"]);
});

const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;

it.each([
  ["a wrong", other],
  ["an empty", "whsec_"],
  ["a malformed", "päss"],
])("with %s secret only the two HMACs fail", async (_what, secret) => {
  const steps = await explain({}, { secrets: [secret] });
  expect(named(steps, "failed")).toEqual(["webhook-signature", "x-vidimus-signature-256"]);
});

it("no step contains the secret, be it right, wrong or malformed", async () => {
  for (const secret of [vector.secret, other, "päss"]) {
    const steps = await explain({}, { secrets: [secret] });
    expect(JSON.stringify(steps)).not.toContain(secret.replace("whsec_", ""));
  }
});

it("the HMACs pass when one of two secrets is right", async () => {
  for (const secrets of [
    [other, vector.secret],
    [vector.secret, other],
  ]) {
    const steps = await explain({}, { secrets });
    expect(named(steps, "failed")).toEqual([]);
    expect(named(steps, "ok")).toEqual(expect.arrayContaining(["webhook-signature", "x-vidimus-signature-256"]));
  }
});

it("a right x-vidimus-signature-256-previous makes up for a wrong x-vidimus-signature-256", async () => {
  const headers = { ...genuine.headers, "x-vidimus-signature-256": `sha256=${"0".repeat(64)}` };
  expect(named(await explain({ headers }), "failed")).toEqual(["x-vidimus-signature-256"]);
  const both = { ...headers, "x-vidimus-signature-256-previous": genuine.headers["x-vidimus-signature-256"]! };
  expect(named(await explain({ headers: both }), "failed")).toEqual([]);
});

it("a changed letter of the snapshot fails the digests and HMACs, not the signature of the statement", async () => {
  const changed = Buffer.from(body.toString().replace("Zürich", "Zurich"));
  const steps = await explain({ body: changed });
  expect(named(steps, "failed")).toEqual(["content-digest", "webhook-signature", "x-vidimus-signature-256", "digest"]);
  expect(named(steps, "ok")).toContain("signature");
});

it("without a readable trust list, key and signature are unchecked, and the check `key` says why", async () => {
  const steps = await explain({}, { keys: { unavailable: "the trust list cannot be read" } });
  expect(named(steps, "unchecked")).toEqual(["key", "signature"]);
  expect(detailOf(steps, "key")).toBe("the trust list cannot be read");
});

it("of an event the statement, key, signature, digest and envelope are unchecked", async () => {
  const ping = sealed('{"id":"ping_1","type":"endpoint.ping","data":{}}', "ping_1");
  const steps = await explain(ping);
  expect(named(steps, "failed")).toEqual([]);
  expect(named(steps, "unchecked")).toEqual(["statement", "key", "signature", "digest", "envelope"]);
  expect(detailOf(steps, "digest")).toBe("endpoint.ping has no snapshot, and no signature");
});

it("without headers only the check `headers` fails, and checks that need headers are not made", async () => {
  const steps = await explain({ headers: {} });
  expect(named(steps, "failed")).toEqual(["headers"]);
  expect(named(steps, "unchecked")).toEqual([
    "clock",
    "content-digest",
    "webhook-signature",
    "x-vidimus-signature-256",
  ]);
});

it("a body that is no JSON fails the check `payload`", async () => {
  expect(named(await explain({ body: Buffer.from("no JSON") }), "failed")).toContain("payload");
});

/**
 * Deliveries with one byte changed, and deliveries whose text was replaced by one who knows the
 * secret.
 */
const changes = oneof(
  record({ at: nat(body.length - 1), to: nat(255) }).map(({ at, to }) => {
    const changed = Buffer.from(body);
    changed[at] = to;
    return { headers: genuine.headers, body: changed };
  }),
  constantFrom(
    ['"sequence":12', '"sequence":13'],
    ['"priority":0.1', '"priority":0.2'],
    ["ten_acme\\n", "ten_acma\\n"],
    ["snapshot.usable", "snapshot.withheld"],
    ['"keyId":"ed25519-_', '"keyId":"ed25519-0'],
    ['"documentType":"core/article"', '"documentType":"core/image"'],
    ['"id":"snp_', '"id":"snq_'],
    ["", ""],
  ).map(([from = "", to = ""]) => sealed(body.toString().replace(from, to))),
);

it("a check of explainDelivery fails exactly when verifyDelivery refuses a delivery with a changed body", async () => {
  await assert(
    asyncProperty(changes, async (request) => {
      const verifying = verifyDelivery(request, { secret: vector.secret, keys: [entry], now: () => at });
      const isAccepted = await verifying.then(
        () => true,
        () => false,
      );
      expect(named(await explain(request), "failed").length === 0).toBe(isAccepted);
    }),
    { numRuns: 400 },
  );
});
