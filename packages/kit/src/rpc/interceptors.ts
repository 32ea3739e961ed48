import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { callContextKey, readCallContext } from "./call-context.ts";
import { toConnectError } from "./error-table.ts";

/** Gives every handler its call context, so that `callContext` works in streams too. */
export const contextInterceptor: Interceptor = (next) => (request) => {
  request.contextValues.set(callContextKey, readCallContext(request.header));
  return next(request);
};

/** Turns whatever a handler throws into the RPC error of the one table. Failures midway through a stream included. */
export const errorInterceptor: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    return response.stream ? { ...response, message: withMappedErrors(response.message) } : response;
  } catch (error) {
    throw toConnectError(error);
  }
};

async function* withMappedErrors<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    throw toConnectError(error);
  }
}

/**
 * Bounds unary calls whose callers gave no deadline, and answers at the deadline even if the handler does not listen
 * to its signal. (`maxTimeoutMs` of Connect refuses longer deadlines and gives none to callers without one.) A caller's
 * own deadline is enforced by Connect, and may be later: whoever asks to wait for something says how long.
 */
export function deadlineInterceptor(defaultTimeoutMs: number): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    if (bringsDeadline(request.header)) return unlessAborted(next(request), request.signal);
    const timeout = AbortSignal.timeout(defaultTimeoutMs);
    const signal = AbortSignal.any([request.signal, timeout]);
    return unlessAborted(next({ ...request, signal }), signal, timeout);
  };
}

function bringsDeadline(header: Headers): boolean {
  return header.has("grpc-timeout") || header.has("connect-timeout-ms");
}

/** Listens no longer than it must: Connect aborts its signal after every call, and each error made then is made for nobody. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, timeout?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () =>
      reject(
        timeout?.aborted
          ? new ConnectError("the deadline passed", Code.DeadlineExceeded)
          : ConnectError.from(signal.reason),
      );
    if (signal.aborted) return fail();
    signal.addEventListener("abort", fail, { once: true });
    const settle = () => signal.removeEventListener("abort", fail);
    work.then(resolve, reject).finally(settle);
  });
}

/** One log line and one observation a call. Never bodies. An unexpected failure is logged here, once, with its cause. */
export function observeInterceptor(log: Logger, metrics: Metrics): Interceptor {
  return (next) => async (request) => {
    const started = performance.now();
    const done = (error?: unknown) => {
      const code = error === undefined ? "ok" : Code[ConnectError.from(error).code];
      const method = `${request.service.typeName}/${request.method.name}`;
      const ms = performance.now() - started;
      metrics.rpcHandled.observe({ method, code }, ms / 1000);
      const { requestId, traceparent } = request.contextValues.get(callContextKey);
      const line = {
        method,
        code,
        ms: Math.round(ms * 10) / 10,
        tenant: tenantOf(request.message),
        requestId,
        traceparent,
      };
      if (code === "Internal" || code === "Unknown")
        log.error({ ...line, err: (error as ConnectError).cause ?? error }, "call");
      else log.info(line, "call");
    };
    try {
      const response = await next(request);
      if (response.stream) return { ...response, message: observed(response.message, done) };
      done();
      return response;
    } catch (error) {
      done(error);
      throw error;
    }
  };
}

async function* observed<T>(messages: AsyncIterable<T>, done: (error?: unknown) => void): AsyncIterable<T> {
  let failure: unknown;
  try {
    yield* messages;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    done(failure);
  }
}

function tenantOf(message: unknown): string | undefined {
  const tenant: unknown = Object.getOwnPropertyDescriptor(message ?? {}, "tenantId")?.value;
  return typeof tenant === "string" ? tenant : undefined;
}
