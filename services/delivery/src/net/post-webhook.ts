import { LRUCache } from "lru-cache";
import { type Dispatcher, errors } from "undici";
import type { AttemptFailure, AttemptOutcome } from "../domain/delivery.ts";
import type { Reference } from "../domain/payload.ts";
import { beginningWithout, hiddenValuesOf } from "../domain/hidden-headers.ts";
import { parseRetryAfter } from "../domain/retry-plan.ts";
import { ResolveError } from "./checked-addresses.ts";
import { LateAnswerError, requestAnswer } from "./read-answer.ts";
import { AddressRefusedError, assertMayDial, type DialRule } from "./guarded-agent.ts";

export interface OutgoingWebhook {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  /** Present when the trace of its snapshot is recorded. */
  readonly attempt?: TracedAttempt;
}

/** An attempt as its span shows it. */
export interface TracedAttempt extends Reference {
  /** Traceparent of the call that made the snapshot. */
  readonly traceparent: string;
  readonly endpointId: string;
  /** From 1. */
  readonly number: number;
  readonly webhookId: string;
}

/** Posts a webhook once. Never rejects, because a failure is an outcome, too. */
export type PostWebhook = (webhook: OutgoingWebhook) => Promise<AttemptOutcome>;

interface PostWebhookOptions {
  agent: Dispatcher;
  rule: DialRule;
  /** Deadline from the start of the attempt to the end of the answer, in milliseconds. */
  attemptMs: number;
}

const answerBytesMax = 1_024;

/**
 * Redirects are not followed. Reading ends once 16 KiB of the answer have come, and the first 1 KiB
 * is kept. Values of the request's headers that must stay hidden are replaced in what is kept.
 */
export function createPostWebhook({ agent, rule, attemptMs }: PostWebhookOptions): PostWebhook {
  const targetOf = createTargets(rule);
  return async ({ url, headers, body }) => {
    const startedAt = new Date();
    const started = performance.now();
    const tookMs = () => Math.round(performance.now() - started);
    try {
      const request = { ...targetOf(url), method: "POST", headers, body };
      const { status, retryAfter, beginning } = await requestAnswer(agent, request, attemptMs);
      const answer =
        beginning.byteLength > 0 ? beginningWithout(hiddenValuesOf(headers), beginning, answerBytesMax) : "";
      const retryAfterMs = parseRetryAfter(retryAfter, new Date());
      return { startedAt, tookMs: tookMs(), status, answer, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    } catch (error) {
      return { startedAt, tookMs: tookMs(), failure: failureOf(error), detail: detailOf(error) };
    }
  };
}

type Target = Pick<Dispatcher.DispatchOptions, "path"> & { readonly origin: string };

const targetsMax = 1_000;

/** The rule does not change, so a cached URL is not checked again; names are, at every dial. */
function createTargets(rule: DialRule): (url: string) => Target {
  const targets = new LRUCache<string, Target>({ max: targetsMax });
  return (text) => {
    const known = targets.get(text);
    if (known) return known;
    const url = new URL(text);
    assertMayDial(url, rule);
    const target = { origin: url.origin, path: `${url.pathname}${url.search}` };
    targets.set(text, target);
    return target;
  };
}

function failureOf(error: unknown): AttemptFailure {
  if (error instanceof AddressRefusedError) return "address_refused";
  if (error instanceof ResolveError) return "dns";
  if (error instanceof LateAnswerError || error instanceof errors.ConnectTimeoutError) return "timeout";
  const code: unknown = error instanceof Error ? Object.getOwnPropertyDescriptor(error, "code")?.value : undefined;
  return typeof code === "string" && tlsCode.test(code) ? "tls" : "connection";
}

const detailCharactersMax = 256;

function detailOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, detailCharactersMax);
}

const tlsCode = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;
