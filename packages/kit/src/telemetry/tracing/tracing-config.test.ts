import { describe, expect, it } from "vitest";
import { ConfigError, EnvReader } from "../../env.ts";
import { readTracingConfig } from "./tracing-config.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

function read(variables: Record<string, string>) {
  const env = new EnvReader(variables);
  const config = readTracingConfig(env);
  env.finish();
  return config;
}

describe("tracing", () => {
  it.each([
    ["no variable is set", {}],
    ["there is no endpoint", { OTEL_TRACES_SAMPLER: "always_on", OTEL_SERVICE_NAME: "x" }],
    ["the SDK is disabled", { ...endpoint, OTEL_SDK_DISABLED: "true" }],
  ])("is off while %s", (_, variables) => {
    expect(read(variables)).toBeUndefined();
  });

  it("adds /v1/traces to OTEL_EXPORTER_OTLP_ENDPOINT", () => {
    expect(read(endpoint)?.url).toBe("http://collector:4318/v1/traces");
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://c/otlp/" })?.url).toBe("https://c/otlp/v1/traces");
  });

  it("uses OTEL_EXPORTER_OTLP_TRACES_ENDPOINT unchanged, instead of OTEL_EXPORTER_OTLP_ENDPOINT", () => {
    expect(read({ ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://t:1/in" })?.url).toBe("http://t:1/in");
  });

  it.each([
    ["the sampler parentbased_always_on while none is named", {}, { isParentBased: true, ratio: 1 }],
    [
      "the sampler always_off, whose argument has no effect",
      { OTEL_TRACES_SAMPLER: "always_off", OTEL_TRACES_SAMPLER_ARG: "0.5" },
      { isParentBased: false, ratio: 0 },
    ],
    [
      "the sampler traceidratio with its argument",
      { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: ".25" },
      { isParentBased: false, ratio: 0.25 },
    ],
    [
      "the sampler parentbased_traceidratio with its argument",
      { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.1" },
      { isParentBased: true, ratio: 0.1 },
    ],
  ])("uses %s", (_, variables, sampler) => {
    expect(read({ ...endpoint, ...variables })?.sampler).toEqual(sampler);
  });

  it("reads lists of names and values, percent-encoded", () => {
    const lists = {
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test, team=a%2Cb=c",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x,a=1",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "a=2",
    };
    expect(read({ ...endpoint, ...lists })).toMatchObject({
      resource: { "deployment.environment.name": "test", team: "a,b=c" },
      headers: { authorization: "Bearer x", a: "2" },
    });
  });

  it("names all six faulty variables, without the values that may hold credentials", () => {
    const faulty = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://user:hunter2@collector",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector",
      OTEL_EXPORTER_OTLP_HEADERS: "hunter2",
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_TRACES_SAMPLER: "jaeger_remote",
      OTEL_TRACES_SAMPLER_ARG: "2",
      OTEL_BSP_MAX_QUEUE_SIZE: "0",
    };
    const failure = (() => {
      try {
        return read(faulty);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(ConfigError);
    const { message } = failure as ConfigError;
    for (const name of Object.keys(faulty).filter((each) => !each.includes("TRACES_ENDPOINT"))) {
      expect(message).toContain(`${name} must be`);
    }
    expect(message).not.toContain("hunter2");
  });
});
