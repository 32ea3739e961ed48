import { checkEnvelope, checkWebhookId } from "./check-envelope.ts";
import {
  checkBodyHmac,
  checkClock,
  checkSignature,
  contentDigest,
  readSignedHeaders,
  type SignedHeaders,
} from "./check-hmac.ts";
import type { Bytes } from "./bytes.ts";
import { parsePayload } from "./payload.ts";
import { type DeliveryRequest, header, rawBody } from "./received-request.ts";
import type { TrustedKey } from "./trust-list.ts";
import { VerificationError } from "./verification-error.ts";
import { checkSnapshotDigest, checkStatementSignature, findKey, readStatement } from "./verify-snapshot.ts";

/** The checks of a delivery, in the order in which they are made. */
const deliveryChecks = [
  "headers",
  "clock",
  "content-digest",
  "webhook-signature",
  "x-vidimus-signature-256",
  "payload",
  "statement",
  "key",
  "signature",
  "digest",
  "envelope",
] as const;

export type DeliveryCheck = (typeof deliveryChecks)[number];

export interface DeliveryStep {
  readonly check: DeliveryCheck;
  /** `unchecked`: what the check needs is missing, or an earlier check refused it. */
  readonly outcome: "ok" | "failed" | "unchecked";
  /** What the check found, or why it was not made. Contains no secret. */
  readonly detail: string;
}

export interface ExplainDeliveryOptions {
  /** The endpoint's secrets, `whsec_…`; without any the two HMACs are not checked. */
  readonly secrets?: readonly string[];
  /** The keys of the trust list, or why there are none. */
  readonly keys: readonly TrustedKey[] | { readonly unavailable: string };
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * When the delivery arrived, in milliseconds since 1970. Without it `now` is used, and `clock` is
   * `unchecked` for a delivery that was sent more than five minutes ago.
   */
  readonly receivedAt?: number;
}

/**
 * Makes as many checks of `verifyDelivery` as possible on a stored delivery, and those of
 * `content-digest` and `x-vidimus-signature-256`, which may fail although `verifyDelivery` accepts
 * the delivery. For people who look for a fault; receivers call `verifyDelivery`.
 */
export async function explainDelivery(
  request: DeliveryRequest,
  options: ExplainDeliveryOptions,
): Promise<readonly DeliveryStep[]> {
  const steps = new Steps();
  const body = await rawBody(request);
  const signed = await explainHeaders(steps, request, body, options);
  await explainPayload(steps, body, signed, options);
  return steps.taken;
}

async function explainHeaders(
  steps: Steps,
  request: DeliveryRequest,
  body: Bytes,
  { secrets = [], now, receivedAt }: ExplainDeliveryOptions,
): Promise<SignedHeaders | undefined> {
  const signed = await steps.take("headers", () => {
    const found = readSignedHeaders(request);
    return [`webhook-id is ${found.id}`, found];
  });
  await steps.take("clock", () => {
    const headers = needed(signed, "the headers are missing");
    return [explainClock(headers, now, receivedAt)];
  });
  await steps.take("content-digest", async () => {
    const announced = needed(header(request, "content-digest") || undefined, "the header is missing");
    if (announced === (await contentDigest(body))) return ["the body is the one that was sent"];
    throw new VerificationError("body", "the body was changed on the way, or parsed and written again");
  });
  await steps.take("webhook-signature", async () => {
    const headers = needed(signed, "the headers are missing");
    await checkSignature(request, headers, body, given(secrets));
    return ["the secret made it, over webhook-id, webhook-timestamp and the body"];
  });
  await steps.take("x-vidimus-signature-256", async () => {
    const names = ["x-vidimus-signature-256", "x-vidimus-signature-256-previous"];
    const signatures = names.map((name) => header(request, name)).filter((text) => text !== "");
    needed(signatures[0], "the header is missing");
    await checkBodyHmac(request, signatures, body, given(secrets));
    return ["the secret made it, over the body"];
  });
  return signed;
}

async function explainPayload(
  steps: Steps,
  body: Bytes,
  signed: SignedHeaders | undefined,
  { keys }: ExplainDeliveryOptions,
): Promise<void> {
  const payload = await steps.take("payload", () => {
    const read = parsePayload(body);
    if (signed) checkWebhookId(read, signed.id);
    return [`${read.type}, ${read.id}`, read];
  });
  const unsigned = payload ? `${payload.type} has no snapshot, and no signature` : "the payload is not accepted";
  const snapshot = payload?.kind === "snapshot" ? payload : undefined;
  const stated = await steps.take("statement", () => {
    const statement = readStatement(needed(snapshot, unsigned).signature);
    const { tenantId, documentId, version, status } = statement;
    return [`version ${version} of ${documentId} of ${tenantId} is ${status}`, statement];
  });
  const key = await steps.take("key", async () => {
    const statement = needed(stated, snapshot ? "the statement is not accepted" : unsigned);
    if ("unavailable" in keys) throw new Unchecked(keys.unavailable);
    const found = await findKey(statement, keys);
    return [`${found.keyId} is listed, and was valid at ${statement.signedAt.toISOString()}`, found];
  });
  await steps.take("signature", async () => {
    const { signature } = needed(snapshot, unsigned);
    await checkStatementSignature(signature, needed(key, "there is no key to check it with"));
    return ["the key signed the statement"];
  });
  await steps.take("digest", async () => {
    const { bytes } = needed(snapshot, unsigned);
    const statement = needed(stated, "the statement is not accepted");
    await checkSnapshotDigest(bytes, statement);
    return [`the ${bytes.length} bytes of the snapshot are those that the statement names`];
  });
  await steps.take("envelope", () => {
    checkEnvelope(needed(snapshot, unsigned), needed(stated, "the statement is not accepted"));
    return ["the members beside the snapshot say what was signed"];
  });
}

function explainClock(signed: SignedHeaders, now: number, receivedAt: number | undefined): string {
  const sent = `it was sent at ${new Date(signed.sentAt).toISOString()}`;
  try {
    checkClock(signed, receivedAt ?? now);
  } catch (error) {
    if (receivedAt !== undefined || now < signed.sentAt) throw error;
    throw new Unchecked(`${sent}; when it arrived is not known, and receivers refuse what is five minutes old`);
  }
  return sent;
}

/** Its message says why a check cannot be made. */
class Unchecked extends Error {}

function needed<T>(value: T | undefined, otherwise: string): T {
  if (value === undefined) throw new Unchecked(otherwise);
  return value;
}

function given(secrets: readonly string[]): readonly string[] {
  needed(secrets[0], "no secret was given");
  return secrets;
}

class Steps {
  readonly taken: DeliveryStep[] = [];

  /** @returns undefined when the check failed or cannot be made */
  async take<T>(
    check: DeliveryCheck,
    run: () => readonly [string, T?] | Promise<readonly [string, T?]>,
  ): Promise<T | undefined> {
    try {
      const [detail, value] = await run();
      this.taken.push({ check, outcome: "ok", detail });
      return value;
    } catch (error) {
      const isFault = error instanceof VerificationError;
      if (!isFault && !(error instanceof Unchecked)) throw error;
      this.taken.push({ check, outcome: isFault ? "failed" : "unchecked", detail: error.message });
      return undefined;
    }
  }
}
