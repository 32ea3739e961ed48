import { connectionFailure } from "../connection-failure.ts";
import type { Session } from "../session.ts";
import { findStoppedStack, StoppedStackError } from "../settings/stopped-stack.ts";
import { announcedSleep } from "./announced-sleep.ts";
import { ApiError } from "./answer.ts";
import { type Answer, type Outcome, sendWithRetries } from "./send-with-retries.ts";

export interface ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly body?: { readonly type: string; readonly content: string | Uint8Array<ArrayBuffer> };
  /** Whether the request is idempotent. */
  readonly repeatable: boolean;
  /**
   * Longest time for one attempt including its answer. When absent, fetch allows 300 s until the
   * headers, and as much between two pieces of the body.
   */
  readonly attemptTimeoutMs?: number;
}

/** The public API, called with the key of a session. */
interface PublicApi {
  /** The gateway's URL, without a slash at its end. */
  readonly base: string;
  /**
   * Sends a request, with repetitions if needed, and reads the whole answer.
   *
   * @throws ApiError when the public API cannot be reached
   */
  send(request: ApiRequest): Promise<Outcome>;
  /**
   * Sends a GET, with repetitions if needed, and leaves the body of a success to the caller.
   *
   * @throws ApiError when the public API cannot be reached
   */
  openStream(url: string): Promise<{ answer: Answer; body: AsyncIterable<Uint8Array> | undefined }>;
}

/** @throws CliError when the session's key or gateway is missing or malformed */
export function openPublicApi({ settings, maxWaitMs, world }: Session): PublicApi {
  const authorization = `Bearer ${settings.get("key")}`;
  const sleep = announcedSleep(world);
  const throwIfStopped = async (error: unknown): Promise<never> => {
    throw (await findStoppedStack(settings, "gateway", `the gateway at ${settings.get("gateway")}`)) ?? error;
  };
  const withRetries = ({ url, repeatable }: Pick<ApiRequest, "url" | "repeatable">, attempt: () => Promise<Answer>) =>
    sendWithRetries(() => attempt().catch(throwIfStopped), { repeatable, maxWaitMs, sleep }).catch((error: unknown) => {
      const stopped = error instanceof StoppedStackError;
      throw new ApiError(stopped ? error.message : `cannot reach ${url}: ${reasonOf(error)}`, true, error);
    });
  return {
    base: settings.get("gateway"),
    send: (request) =>
      withRetries(request, async () => {
        const response = await fetch(request.url, toInit(request, authorization));
        return { status: response.status, headers: response.headers, body: await response.text() };
      }),
    async openStream(url) {
      let body: AsyncIterable<Uint8Array> | undefined;
      const { answer } = await withRetries({ url, repeatable: true }, async () => {
        const response = await fetch(url, toInit({ method: "GET" }, authorization));
        body = response.ok ? (response.body ?? undefined) : undefined;
        return { status: response.status, headers: response.headers, body: body ? "" : await response.text() };
      });
      return { answer, body };
    },
  };
}

/** Redirects fail, because following one could send the body to another server. */
function toInit(
  { method, body, attemptTimeoutMs }: Pick<ApiRequest, "method" | "body" | "attemptTimeoutMs">,
  authorization: string,
): RequestInit {
  return {
    method,
    redirect: "error",
    headers: { authorization, ...(body ? { "content-type": body.type } : {}) },
    ...(body ? { body: body.content } : {}),
    ...(attemptTimeoutMs ? { signal: AbortSignal.timeout(attemptTimeoutMs) } : {}),
  };
}

/** Describes why a connection failed; an error of fetch has the system's as its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return connectionFailure((cause instanceof Error && cause.message) || code || error.message);
}
