import { type Dispatcher, errors, request } from "undici";
import type { AttemptFailure, AttemptOutcome } from "../domain/delivery.ts";
import type { Reference } from "../domain/payload.ts";
import { parseRetryAfter } from "../domain/retry-plan.ts";
import { AddressRefusedError, assertMayDial, type DialRule, ResolveError } from "./guarded-agent.ts";

/** A webhook that is about to be posted. */
export interface OutgoingWebhook {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  /** Present when the trace of its snapshot is recorded. */
  readonly attempt?: TracedAttempt;
}

/** An attempt as its span shows it. */
export interface TracedAttempt extends Reference {
  /** Of the call that made the snapshot. */
  readonly traceparent: string;
  readonly endpointId: string;
  /** From 1. */
  readonly number: number;
  readonly webhookId: string;
}

/** Posts a webhook once. Never rejects: a failure is an outcome too. */
export type PostWebhook = (webhook: OutgoingWebhook) => Promise<AttemptOutcome>;

interface PostWebhookOptions {
  agent: Dispatcher;
  rule: DialRule;
  /** Deadline from the start of the attempt to the end of the answer, in milliseconds. */
  attemptMs: number;
}

const answerReadBytesMax = 16 * 1024;
const answerKeptBytesMax = 1024;

/** Redirects are not followed. At most 16 KiB of the answer are read, and at most 1 KiB is kept. */
export function createPostWebhook({ agent, rule, attemptMs }: PostWebhookOptions): PostWebhook {
  return async ({ url, headers, body }) => {
    const startedAt = new Date();
    const started = performance.now();
    const tookMs = () => Math.round(performance.now() - started);
    const signal = AbortSignal.timeout(attemptMs);
    try {
      assertMayDial(new URL(url), rule);
      const response = await request(url, { dispatcher: agent, method: "POST", headers, body, signal });
      const answer = await readBeginning(response.body);
      const retryAfterMs = parseRetryAfter(oneOf(response.headers["retry-after"]), new Date());
      const status = response.statusCode;
      return { startedAt, tookMs: tookMs(), status, answer, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    } catch (error) {
      if (signal.aborted) return { startedAt, tookMs: tookMs(), failure: "timeout", detail: lateDetail(attemptMs) };
      return { startedAt, tookMs: tookMs(), failure: failureOf(error), detail: detailOf(error) };
    }
  };
}

/**
 * Reads an answer to its end, to the limit or to the deadline. After the limit the connection is
 * closed, because reading on could take for ever. When the body breaks off, the status counts all
 * the same: the receiver has sent it.
 */
async function readBeginning(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= answerReadBytesMax) break;
    }
  } catch {
    // Keep the chunks that were read.
  }
  return Buffer.concat(chunks).subarray(0, answerKeptBytesMax).toString();
}

function oneOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function failureOf(error: unknown): AttemptFailure {
  if (error instanceof AddressRefusedError) return "address_refused";
  if (error instanceof ResolveError) return "dns";
  if (error instanceof errors.ConnectTimeoutError) return "timeout";
  const code: unknown = error instanceof Error ? Object.getOwnPropertyDescriptor(error, "code")?.value : undefined;
  return typeof code === "string" && tlsCode.test(code) ? "tls" : "connection";
}

const detailCharactersMax = 256;

function detailOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, detailCharactersMax);
}

function lateDetail(attemptMs: number): string {
  return `no whole answer within ${attemptMs / 1_000} s`;
}

const tlsCode = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;
