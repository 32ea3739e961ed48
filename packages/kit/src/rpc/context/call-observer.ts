import { Code, type ConnectError, type HandlerContext } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Span } from "../../telemetry/tracing/tracing.ts";
import { callContextKey } from "./call-context.ts";
import { endServerSpan } from "./call-span.ts";

/** What the log, the metrics and the trace need of a call. */
export interface EndedCall {
  readonly method: DescMethod;
  readonly values: HandlerContext["values"];
  /**
   * The request, for its `tenantId`; undefined when it was not parsed, and for streams at a teams
   * door.
   */
  readonly request: unknown;
  readonly startedMs: number;
  /** Started by the door, ended by the observer; undefined for a call that is not traced. */
  readonly span: Span | undefined;
  /** A bug that one item of the call caused (`noteItemFault`); undefined when none did. */
  readonly itemFault: unknown;
}

/** Called at the end of a call. `error` is undefined when the call succeeded. */
export type CallObserver = (call: EndedCall, error?: ConnectError) => void;

const slowMs = 1_000;

/** Log levels of unexpected failures: bugs, and dependencies that did not answer. */
const levels: { readonly [C in Code]?: "error" | "warn" } = {
  [Code.Internal]: "error",
  [Code.Unknown]: "error",
  [Code.DataLoss]: "error",
  [Code.Unavailable]: "warn",
  [Code.DeadlineExceeded]: "warn",
};

/**
 * Makes an observer that measures each call, ends its span, and logs one line: at `debug`, or at
 * `info` and above when the call failed unexpectedly or took over a second. Bodies are not logged.
 * A bug is logged here, once, with its cause, also when only one item of the call caused it.
 */
export function callObserver(log: Logger, metrics: Metrics): CallObserver {
  return (call, error) => {
    const { method, request, startedMs } = call;
    const ms = performance.now() - startedMs;
    const name = `${method.parent.typeName}/${method.name}`;
    const code = error === undefined ? "ok" : codeToString(error.code);
    metrics.rpcHandled.observe({ method: name, code }, ms / 1_000);
    if (call.span) endSpan(call.span, call, error);
    const bug = call.itemFault ?? error?.cause ?? error;
    const level = call.itemFault === undefined ? levelOf(error, ms) : "error";
    if (!log.isLevelEnabled(level)) return;
    const { requestId, traceparent } = call.values.get(callContextKey);
    const line = {
      method: name,
      code,
      ms: Math.round(ms * 10) / 10,
      tenant: tenantOf(request),
      requestId,
      traceparent,
    };
    log[level](level === "error" ? { ...line, err: bug } : line, "call");
  };
}

function levelOf(error: ConnectError | undefined, ms: number): "error" | "warn" | "info" | "debug" {
  return (error && levels[error.code]) ?? (ms > slowMs ? "info" : "debug");
}

function endSpan(span: Span, { values, request }: EndedCall, error: ConnectError | undefined): void {
  const { requestId } = values.get(callContextKey);
  endServerSpan(span, error, { "vidimus.tenant.id": tenantOf(request), "vidimus.request.id": requestId });
}

function tenantOf(message: unknown): string | undefined {
  const tenant: unknown = Object.getOwnPropertyDescriptor(message ?? {}, "tenantId")?.value;
  return typeof tenant === "string" ? tenant : undefined;
}
