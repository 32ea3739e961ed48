import type { Registry } from "prom-client";
import type { Logger } from "../log.ts";
import type { TracingConfig } from "./tracing-config.ts";
import type { Tracing } from "./tracing.ts";

interface OpenTracingOptions {
  readonly service: string;
  readonly config: TracingConfig | undefined;
  readonly log: Logger;
  readonly registry: Registry;
}

/**
 * Imports OpenTelemetry's SDK only when tracing is configured; returns undefined otherwise.
 * Disposing the stack posts the waiting spans, for at most two seconds.
 */
export async function openTracing(
  stack: AsyncDisposableStack,
  { service, config, log, registry }: OpenTracingOptions,
): Promise<Tracing | undefined> {
  if (!config) return undefined;
  const { OtlpTracing } = await import("./otlp-tracing.ts");
  return stack.use(new OtlpTracing({ service, config, log, registry }));
}
