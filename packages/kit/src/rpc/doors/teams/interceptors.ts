import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextKey, type Interceptor } from "@connectrpc/connect";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import type { Span, Tracing } from "../../../telemetry/tracing/tracing.ts";
import { requireActorName } from "../../context/actor-name.ts";
import { callContextKey, parseTraceparent, readCallContext } from "../../context/call-context.ts";
import type { CallObserver, EndedCall } from "../../context/call-observer.ts";
import { startServerSpan } from "../../context/call-span.ts";
import { claimsToBePerson } from "../../context/person.ts";
import { boundedStream } from "../shared/bounded-stream.ts";
import type { ConnectionPeers } from "../shared/connection-peers.ts";
import { toConnectError } from "../../errors/error-table.ts";
import { itemFaultOf } from "../../errors/item-fault.ts";
import { unlessAborted } from "../../../unless-aborted.ts";
import { isIP } from "node:net";
import type { TeamsGuard } from "./teams-guard.ts";

/** Address and port of the caller. */
export const peerKey = createContextKey("");

const spanKey = createContextKey<Span | undefined>(undefined);

/**
 * Starts the span of a call (`startSpan`) while tracing is on, and sets the call context that
 * `callContext` returns. A call without a trace begins one.
 */
export function contextInterceptor(tracing: Tracing | undefined): Interceptor {
  return (next) => (request) => {
    const { header, method, contextValues } = request;
    const span = tracing && startSpan(tracing, method, header);
    if (span) contextValues.set(spanKey, span);
    const from = contextValues.get(peerKey).replace(/:\d+$/, "");
    contextValues.set(callContextKey, readCallContext(header, { identity: "", from }, span?.traceparent));
    return next(request);
  };
}

/**
 * Calls of health and reflection get no span: they are probes, or streams that may last as long as
 * the process.
 */
function startSpan(tracing: Tracing, method: DescMethod, header: Headers): Span | undefined {
  const { typeName } = method.parent;
  if (typeName === Health.typeName || typeName === ServerReflection.typeName) return undefined;
  return startServerSpan(tracing, { method, parent: parseTraceparent(header.get("traceparent")) });
}

/**
 * Refuses unknown callers, calls outside of their grants and malformed names of actors, and adds
 * the identity to the call context. Must come after `observeInterceptor` and `errorInterceptor`, so
 * that refusals are logged and converted.
 *
 * @param peers undefined on a plaintext door, whose callers have no identity
 */
export function guardInterceptor(guard: TeamsGuard, peers: ConnectionPeers | undefined): Interceptor {
  return (next) => async (request) => {
    const peer = request.contextValues.get(peerKey);
    const identity = peers?.identityOf(peer, `${request.service.typeName}/${request.method.name}`) ?? "";
    const context = { ...request.contextValues.get(callContextKey), identity };
    request.contextValues.set(callContextKey, context);
    const check = guard.admit(request.method, { ...context, peer });
    const stated = request.header.get("vidimus-from") ?? "";
    // Only a program that signs people in may name a person as actor. The program states where the
    // person is; the connection says only where the program is.
    if (claimsToBePerson(context.actor) && isIP(stated) !== 0) {
      request.contextValues.set(callContextKey, { ...context, from: stated });
    }
    requireActorName(request.header.get("vidimus-actor") ?? "");
    if (request.stream) return next({ ...request, message: checked(request.message, check) });
    await check(request.message);
    return next(request);
  };
}

async function* checked<T>(messages: AsyncIterable<T>, check: (message: T) => Promise<void> | void): AsyncIterable<T> {
  for await (const message of messages) {
    await check(message);
    yield message;
  }
}

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
 * Sets a deadline for unary calls without one, and answers at the deadline even if the handler
 * ignores its signal. A caller's own deadline may be later, for example of a long poll, and is
 * enforced by Connect. Connect's `maxTimeoutMs` cannot be used: it refuses later deadlines and sets
 * no deadline.
 */
export function deadlineInterceptor(defaultTimeoutMs: number): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    if (hasDeadline(request.header))
      return unlessAborted(next(request), request.signal, () => ConnectError.from(request.signal.reason));
    const timeout = AbortSignal.timeout(defaultTimeoutMs);
    const signal = AbortSignal.any([request.signal, timeout]);
    const reason = () =>
      timeout.aborted
        ? new ConnectError("the deadline passed", Code.DeadlineExceeded)
        : ConnectError.from(signal.reason);
    return unlessAborted(next({ ...request, signal }), signal, reason);
  };
}

function hasDeadline(header: Headers): boolean {
  return header.has("grpc-timeout") || header.has("connect-timeout-ms");
}

export function observeInterceptor(observe: CallObserver): Interceptor {
  return (next) => async (request) => {
    const call: EndedCall = {
      method: request.method,
      values: request.contextValues,
      request: request.stream ? undefined : request.message,
      startedMs: performance.now(),
      span: request.contextValues.get(spanKey),
      get itemFault() {
        return itemFaultOf(request.contextValues);
      },
    };
    try {
      const response = await next(request);
      if (response.stream) {
        return { ...response, message: observed(response.message, (error) => observe(call, error)) };
      }
      observe(call);
      return response;
    } catch (error) {
      observe(call, ConnectError.from(error));
      throw error;
    }
  };
}

async function* observed<T>(messages: AsyncIterable<T>, done: (error?: ConnectError) => void): AsyncIterable<T> {
  let failure: ConnectError | undefined;
  try {
    yield* messages;
  } catch (error) {
    failure = ConnectError.from(error);
    throw error;
  } finally {
    done(failure);
  }
}

/**
 * Ends a handler's stream when the client leaves, which Connect does not do, and when the client
 * takes no message for `stalledMs`. Must be the last interceptor, so that those before it see the
 * error of a stalled stream.
 */
export function streamInterceptor(stalledMs: number): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    if (!response.stream) return response;
    return { ...response, message: boundedStream(response.message, request.signal, stalledMs) };
  };
}
