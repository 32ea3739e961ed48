import { DomainError } from "@vidimus/kit/errors";
import {
  type TrustListAnswer,
  VerificationError,
  type VerifiedTrustList,
  verifyTrustList,
} from "../../../verify/src/verify.ts";

/** The answer of `GET /api/keys`, with its verification. */
export interface ReadTrustList {
  readonly answer: TrustListAnswer & { readonly body: string };
  /**
   * Whether an offline root is pinned. Without one the list key that comes with the list is
   * trusted.
   */
  readonly hasRoot: boolean;
  /** Undefined when the list is refused. */
  readonly list?: VerifiedTrustList;
  /** Why receivers refuse the list. */
  readonly refusal?: string;
}

export interface ReadTrustListDeps {
  /** Origin of the public API. */
  readonly gatewayUrl: URL;
  /** Public key of the offline root: base64 of SPKI DER. */
  readonly trustRoot: string | undefined;
}

const timeoutMs = 5_000;
const bytesMax = 1024 * 1024;

/**
 * Reads the trust list as every receiver does, over the public API. That needs no credential and no
 * grant, and it shows faults of everything between signing and the receivers.
 *
 * @throws DomainError `unavailable` when the gateway does not answer with a list
 */
export async function readTrustList(
  { gatewayUrl, trustRoot }: ReadTrustListDeps,
  { signal, now }: { readonly signal: AbortSignal; readonly now: Date },
): Promise<ReadTrustList> {
  const answer = await fetchList(new URL("/api/keys", gatewayUrl), signal);
  const hasRoot = trustRoot !== undefined;
  try {
    return { answer, hasRoot, list: await verifyTrustList(answer, { root: trustRoot }, now.getTime()) };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { answer, hasRoot, refusal: error.message };
  }
}

async function fetchList(url: URL, signal: AbortSignal): Promise<ReadTrustList["answer"]> {
  try {
    const response = await fetch(url, {
      headers: { "cache-control": "no-cache" },
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const body = await response.text();
    if (!response.ok || body.length > bytesMax) throw new Error(`it answered ${response.status}`);
    const [statement = null, signature = null] = ["statement", "signature"].map((name) =>
      response.headers.get(`vidimus-trust-${name}`),
    );
    return { body, statement, signature };
  } catch (error) {
    throw new DomainError("unavailable", "the public API does not answer with its trust list", { cause: error });
  }
}
