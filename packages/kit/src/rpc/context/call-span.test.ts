import { Code, ConnectError } from "@connectrpc/connect";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EnvReader } from "../../env.ts";
import { OtlpTracing } from "../../telemetry/tracing/otlp-tracing.ts";
import { readTracingConfig } from "../../telemetry/tracing/tracing-config.ts";
import { attributesOf, openOtlpReceiver, type OtlpReceiver } from "../../testing/otlp-receiver.ts";
import { callContext } from "./call-context.ts";
import { serverAttributes, shareCall, tracedFor, traceparentIn } from "./call-span.ts";
import { openRpcClient } from "../client/client.ts";
import { cleanUp, collect, doors, failure, mesh, type Phrases, piece, serve, teams } from "../testing/doors.ts";
import type { Door } from "../testing/doors.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const sampled = `00-${traceId}-00f067aa0ba902b7-01`;
const other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const unsampled = `00-${traceId}-00f067aa0ba902b7-00`;

let collector: OtlpReceiver;
beforeEach(async () => {
  collector = await openOtlpReceiver();
});
afterEach(async () => {
  await collector[Symbol.asyncDispose]();
});

function openTracing(service: string): OtlpTracing {
  const env = new EnvReader({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "60000" });
  const log = pino({ level: "silent" });
  return new OtlpTracing({ service, config: readTracingConfig(env)!, log, registry: new Registry() });
}

/** Opens a door and a client of it. `spans` ends the tracing of both, and returns their spans. */
async function pair(door: Door, implementation: Phrases) {
  const [server, caller] = [openTracing("server"), openTracing("caller")];
  const { port } = await serve(door, implementation, { tracing: server });
  const target = `127.0.0.1:${port}`;
  const client = openRpcClient(PhraseService, { target, tracing: caller });
  const health = openRpcClient(Health, { target });
  cleanUp(() => client[Symbol.dispose]());
  cleanUp(() => health[Symbol.dispose]());
  const spans = async () => {
    await Promise.all([server[Symbol.asyncDispose](), caller[Symbol.asyncDispose]()]);
    return [...collector.spans].toSorted((a, b) => a.service.localeCompare(b.service));
  };
  return { client, health, spans, port };
}

describe.each(doors)("a call at the $name door", (door) => {
  it("has a span of its caller and one of its service", async () => {
    const { client, spans, port } = await pair(door, { upsertPhrase: () => ({}) });
    const headers = { traceparent: sampled, "x-request-id": "r-1" };
    await client.upsertPhrase({ tenantId: "demo" }, { headers });
    const [caller, server] = await spans();
    const method = "vidimus.phrases.v1.PhraseService/UpsertPhrase";
    expect(caller).toMatchObject({ name: method, kind: 3, traceId, parentSpanId: "00f067aa0ba902b7" });
    expect(server).toMatchObject({ name: method, kind: 2, traceId, parentSpanId: caller!.spanId });
    const call = { "rpc.system.name": "grpc", "rpc.method": method, "rpc.response.status_code": "OK" };
    expect(attributesOf(server!)).toEqual({ ...call, "vidimus.tenant.id": "demo", "vidimus.request.id": "r-1" });
    expect(attributesOf(caller!)).toEqual({ ...call, "server.address": "127.0.0.1", "server.port": port });
  });

  it("gives its handler the traceparent of its service's span", async () => {
    let seen = "";
    const { client, spans } = await pair(door, {
      upsertPhrase: (_, context) => {
        seen = callContext(context).traceparent;
        return {};
      },
    });
    await client.upsertPhrase({}, { headers: { traceparent: sampled } });
    const [, server] = await spans();
    expect(seen).toBe(`00-${traceId}-${server!.spanId}-01`);
  });

  it.each([
    { code: Code.Internal, name: "INTERNAL", marked: "both spans" },
    { code: Code.NotFound, name: "NOT_FOUND", marked: "its caller's span alone" },
    { code: Code.Canceled, name: "CANCELLED", marked: "its caller's span alone" },
  ])("that fails with $name marks $marked as failed", async (example) => {
    const { client, spans } = await pair(door, {
      upsertPhrase: () => {
        throw new ConnectError("no", example.code);
      },
    });
    await failure(client.upsertPhrase({}, { headers: { traceparent: sampled } }));
    const [caller, server] = await spans();
    expect(attributesOf(caller!)).toMatchObject({ "error.type": example.name });
    expect(caller!.status.code).toBe(2);
    expect(attributesOf(server!)["rpc.response.status_code"]).toBe(example.name);
    expect(server!.status.code === 2).toBe(example.marked === "both spans");
  });

  it("that streams has a span of its caller and one of its service", async () => {
    const { client, spans } = await pair(door, {
      async *listPhrases() {
        yield piece(1);
        yield piece(2);
      },
    });
    await collect(client.listPhrases({}, { headers: { traceparent: sampled } }));
    const [caller, server] = await spans();
    expect(server).toMatchObject({ traceId, parentSpanId: caller!.spanId });
    expect(attributesOf(caller!)["rpc.response.status_code"]).toBe("OK");
  });

  it("whose trace is not recorded has no spans", async () => {
    const { client, spans } = await pair(door, { upsertPhrase: () => ({}) });
    await client.upsertPhrase({}, { headers: { traceparent: unsampled } });
    expect(await spans()).toEqual([]);
  });

  it("that checks the health without a trace has no span", async () => {
    const { health, spans } = await pair(door, {});
    await health.check({});
    expect(await spans()).toEqual([]);
  });

  it("that is made for several traces belongs to the first recorded and links to the other recorded ones", async () => {
    const { client, spans } = await pair(door, { upsertPhrase: () => ({}) });
    const others = [other, other.replace("-0af7", "-1af7")];
    await client.upsertPhrase({}, tracedFor([undefined, unsampled, sampled, ...others, sampled]));
    const [caller] = await spans();
    const links = others.map((each) => ({ traceId: each.slice(3, 35), spanId: each.slice(36, 52) }));
    expect(caller).toMatchObject({ traceId, links });
  });
});

describe("a call without a trace", () => {
  it("begins one at the teams door", async () => {
    const { client, spans } = await pair(teams, { upsertPhrase: () => ({}) });
    await client.upsertPhrase({});
    expect((await spans()).map(({ service, parentSpanId = "" }) => [service, parentSpanId])).toEqual([["server", ""]]);
  });

  it("has no span at the mesh door", async () => {
    const { client, spans } = await pair(mesh, { upsertPhrase: () => ({}) });
    await client.upsertPhrase({});
    expect(await spans()).toEqual([]);
  });
});

it("a shared call has the metadata of the first caller whose trace is recorded, else of the first caller", () => {
  const calls = [unsampled, unsampled, sampled, other].map((traceparent, index) => {
    return { headers: { traceparent, "x-request-id": String(index) } };
  });
  expect(shareCall(calls).headers).toMatchObject({ "x-request-id": "2" });
  expect(shareCall(calls.slice(0, 2))).toEqual({ headers: calls[0]!.headers });
  expect(shareCall([])).toEqual({ headers: {} });
});

it("traceparentIn finds the traceparent in Headers and in a list of names and values", () => {
  expect(traceparentIn(new Headers({ traceparent: sampled }))).toBe(sampled);
  expect(traceparentIn([["traceparent", sampled]])).toBe(sampled);
});

it.each([
  { authority: "documents.news.svc:7151", host: "documents.news.svc", port: 7151 },
  { authority: "10.0.0.1:7151", host: "10.0.0.1", port: 7151 },
  { authority: "[fd00::1]:7151", host: "fd00::1", port: 7151 },
  { authority: "documents.news.svc", host: "documents.news.svc", port: 443 },
])("serverAttributes gives host $host and port $port for $authority", ({ authority, host, port }) => {
  expect(serverAttributes(authority)).toEqual({ "server.address": host, "server.port": port });
});
