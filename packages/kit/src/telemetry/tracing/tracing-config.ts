import type { EnvReader } from "../../env.ts";

export interface TracingConfig {
  /** Where spans are posted: OTLP over HTTP, in JSON. */
  readonly url: string;
  /** Headers of the posts; may hold credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Deadline of a post, repeats included. */
  readonly timeoutMs: number;
  /** `service.name` of the resource; undefined to use the service's own name. */
  readonly serviceName: string | undefined;
  /** Further attributes of OpenTelemetry's resource, which describes this process. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
  readonly queue: SpanQueueConfig;
}

export interface Sampler {
  /** Whether the sampled flag of a parent decides when there is a parent. */
  readonly isParentBased: boolean;
  /** Share of traces that is recorded, 0 to 1. */
  readonly ratio: number;
}

export interface SpanQueueConfig {
  /** Most spans that wait; any beyond are dropped. */
  readonly spansMax: number;
  /** Most spans in a post. */
  readonly batchMax: number;
  /** Longest time that a span waits, so that it is posted together with others. */
  readonly delayMs: number;
}

const samplers = [
  "parentbased_always_on",
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/**
 * Reads OpenTelemetry's variables (docs/tracing.md). Returns undefined without an endpoint or with
 * `OTEL_SDK_DISABLED=true`; no traces are recorded then.
 */
export function readTracingConfig(env: EnvReader): TracingConfig | undefined {
  const isDisabled = env.oneOf("OTEL_SDK_DISABLED", ["true", "false"], "false") === "true";
  const url = readUrl(env);
  if (isDisabled || url === undefined) return undefined;
  for (const name of ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"]) {
    env.oneOf(name, ["http/json"], "http/json");
  }
  const spansMax = env.int("OTEL_BSP_MAX_QUEUE_SIZE", { min: 1, max: 65_536, fallback: 2_048 });
  const batchMax = env.int("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", { min: 1, max: 65_536, fallback: 512 });
  return {
    url,
    headers: {
      ...readPairs(env, "OTEL_EXPORTER_OTLP_HEADERS"),
      ...readPairs(env, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
    },
    timeoutMs: env.int("OTEL_EXPORTER_OTLP_TIMEOUT", { min: 1, max: 60_000, fallback: 10_000 }),
    serviceName: env.optional("OTEL_SERVICE_NAME"),
    resource: readPairs(env, "OTEL_RESOURCE_ATTRIBUTES"),
    sampler: readSampler(env),
    queue: {
      spansMax,
      batchMax: Math.min(batchMax, spansMax),
      delayMs: env.int("OTEL_BSP_SCHEDULE_DELAY", { min: 1, max: 60_000, fallback: 5_000 }),
    },
  };
}

/**
 * OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is used unchanged. OTEL_EXPORTER_OTLP_ENDPOINT is for all
 * signals, so OTLP's path for traces is appended to it.
 */
function readUrl(env: EnvReader): string | undefined {
  const own = readHttpUrl(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const common = readHttpUrl(env, "OTEL_EXPORTER_OTLP_ENDPOINT");
  return own ?? (common && `${common.replace(/\/$/, "")}/v1/traces`);
}

function readHttpUrl(env: EnvReader, name: string): string | undefined {
  const text = env.optional(name);
  if (text === undefined) return undefined;
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text;
  // The URL may hold credentials, so the message does not quote it.
  env.fault(`${name} must be an http or https URL`);
  return undefined;
}

function readSampler(env: EnvReader): Sampler {
  const name = env.oneOf("OTEL_TRACES_SAMPLER", samplers, "parentbased_always_on");
  const text = env.string("OTEL_TRACES_SAMPLER_ARG", {
    fallback: "1",
    pattern: /^(?:0|1|0?\.\d{1,15}|1\.0*|0\.)$/,
    shape: "a number from 0 to 1",
  });
  const share = name.endsWith("ratio") ? Number(text) : 1;
  return { isParentBased: name.startsWith("parentbased_"), ratio: name.endsWith("always_off") ? 0 : share };
}

/** Reads `name=value,name=value`, percent-encoded as in W3C Baggage. */
function readPairs(env: EnvReader, name: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const part of (env.optional(name) ?? "").split(",")) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    const key = decoded(part.slice(0, at));
    const value = decoded(part.slice(at + 1));
    // Values may be credentials, so the message does not quote them.
    if (at < 1 || !key || value === undefined) env.fault(`${name} must be a list of name=value, percent-encoded`);
    else pairs[key] = value;
  }
  return pairs;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}
