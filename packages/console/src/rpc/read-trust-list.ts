import { DomainError } from "@vidimus/kit/errors";
import {
  type TrustListAnswer,
  VerificationError,
  type VerifiedTrustList,
  verifyTrustList,
} from "../../../verify/src/verify.ts";
import type { RoundCounter } from "./rounds.ts";

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
  /** Origin at which the console itself reaches the public API. */
  readonly gatewayUrl: URL;
  /** Public key of the offline root, base64 of SPKI DER; undefined when none is pinned. */
  readonly trustRoot: string | undefined;
}

const timeoutMs = 5_000;
const bytesMax = 1024 * 1024;
const requestTimeout = 408;

/**
 * Reads the trust list as every receiver does, over the public API. That needs no credential and no
 * grant, and it shows faults of everything between signing and the receivers.
 *
 * @throws DomainError `unavailable` when the gateway does not answer with a list, or the error of a
 * reading that the signal has ended
 */
export async function readTrustList(
  { gatewayUrl, trustRoot }: ReadTrustListDeps,
  { signal, now, rounds }: { readonly signal: AbortSignal; readonly now: Date; readonly rounds: RoundCounter },
): Promise<ReadTrustList> {
  const answer = await rounds.count(() => fetchList(new URL("/api/keys", gatewayUrl), signal));
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
    const response = await getTwice(url, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    const body = await response.text();
    if (!response.ok || body.length > bytesMax) throw new Error(`it answered ${response.status}`);
    const [statement = null, signature = null] = ["statement", "signature"].map((name) =>
      response.headers.get(`vidimus-trust-${name}`),
    );
    return { body, statement, signature };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new DomainError("unavailable", "the public API does not answer with its trust list", { cause: error });
  }
}

/**
 * A GET that is sent again once when it fails or is answered with 408: the server may close an idle
 * connection at the moment of the request.
 */
async function getTwice(url: URL, signal: AbortSignal): Promise<Response> {
  const get = () => fetch(url, { headers: { "cache-control": "no-cache" }, redirect: "error", signal });
  const answer = await get().catch((error: unknown) => {
    if (signal.aborted) throw error;
  });
  if (answer && answer.status !== requestTimeout) return answer;
  await answer?.body?.cancel().catch(() => {});
  return get();
}
