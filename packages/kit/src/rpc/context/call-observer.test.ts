import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { describe, expect, it } from "vitest";
import { createMetrics } from "../../telemetry/metrics.ts";
import { callContextKey } from "./call-context.ts";
import { callObserver } from "./call-observer.ts";
import { logLines } from "../testing/log-lines.ts";

const context = { requestId: "r-1", traceparent: "00-a-b-00", actor: "", role: "" };
const endedAfter = (ms: number) => ({
  method: PhraseService.method.upsertPhrase,
  values: createContextValues().set(callContextKey, context),
  // The body is text, because JSON would write bytes as numbers, which no test would recognize.
  request: { tenantId: "demo", phraseJson: "secret" },
  startedMs: performance.now() - ms,
  span: undefined,
  itemFault: undefined,
});

const refusal = (code: Code) => new ConnectError("no", code);

const method = "vidimus.phrases.v1.PhraseService/UpsertPhrase";

describe("a call", () => {
  const examples = [
    { what: "that succeeded", code: "ok", error: undefined, ms: 0, level: "debug" },
    { what: "that was refused as expected", code: "not_found", error: refusal(Code.NotFound), ms: 0, level: "debug" },
    { what: "whose caller left", code: "canceled", error: refusal(Code.Canceled), ms: 0, level: "debug" },
    { what: "that took over a second", code: "ok", error: undefined, ms: 1_001, level: "info" },
    {
      what: "that found a dependency unavailable",
      code: "unavailable",
      error: refusal(Code.Unavailable),
      ms: 0,
      level: "warn",
    },
    {
      what: "that missed its deadline",
      code: "deadline_exceeded",
      error: refusal(Code.DeadlineExceeded),
      ms: 0,
      level: "warn",
    },
    { what: "that met a bug", code: "internal", error: refusal(Code.Internal), ms: 0, level: "error" },
  ];

  it.each(examples)("$what is logged at $level as $code, without its body", ({ code, error, ms, level }) => {
    const { log, lines } = logLines("debug");
    callObserver(log, createMetrics("test"))(endedAfter(ms), error);
    const shared = { requestId: "r-1", traceparent: "00-a-b-00", tenant: "demo" };
    expect(lines).toEqual([expect.objectContaining({ level, method, code, ...shared, ms: expect.any(Number) })]);
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it.each(examples)("$what is counted as $code", async ({ code, error, ms }) => {
    const metrics = createMetrics("test");
    callObserver(logLines().log, metrics)(endedAfter(ms), error);
    const { values } = await metrics.rpcHandled.get();
    expect(values.find(({ metricName }) => metricName?.endsWith("_count"))).toMatchObject({
      value: 1,
      labels: { method, code },
    });
  });

  it("that succeeded is logged as an error with the bug that one of its items met", () => {
    const { log, lines } = logLines();
    callObserver(log, createMetrics("test"))({ ...endedAfter(0), itemFault: new TypeError("x is undefined") });
    const err: unknown = expect.objectContaining({ message: "x is undefined" });
    expect(lines).toEqual([expect.objectContaining({ level: "error", code: "ok", err })]);
  });
});
