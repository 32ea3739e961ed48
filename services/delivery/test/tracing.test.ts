/** Traces of snapshots that no message announced, and of attempts that come later. */
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { EnvReader } from "@vidimus/kit/env";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { readTracingConfig } from "@vidimus/kit/telemetry/tracing/tracing-config";
import { attributesOf, openOtlpReceiver } from "@vidimus/kit/testing/otlp-receiver";
import { randomUUID } from "node:crypto";
import { patient } from "@vidimus/kit/testing/patient";
import { expect, test, vi } from "vitest";
import { startDelivery } from "../src/delivery.ts";
import { snapshotOf } from "./support/feed.ts";
import { openReceiver } from "./support/receiver.ts";
import { asAdmin, openWorld } from "./support/world.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const publication = "00f067aa0ba902b7";

test("the ingest of a snapshot whose message was lost, and its two attempts, are in the snapshot's trace", async () => {
  await using collector = await openOtlpReceiver();
  await using world = await openWorld();
  const traced = { ...snapshotOf("acme", randomUUID()), traceparent: `00-${traceId}-${publication}-01` };
  const untraced = snapshotOf("acme", randomUUID());
  const about = ({ documentId }: typeof untraced) => receiver.received.filter(({ body }) => body.includes(documentId));
  await using receiver = await openReceiver((_, response) => {
    response.writeHead(about(traced).length === 1 ? 503 : 204).end();
  });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "20" };
  const tracing = readTracingConfig(new EnvReader(env));
  await using service = await startDelivery({ ...world.configOf(), tracing });
  using endpoints = openRpcClient(EndpointService, { target: `127.0.0.1:${service.grpcPort}` });
  await endpoints.createEndpoint({ tenantId: "acme", url: receiver.url }, asAdmin);

  world.feed.publish(untraced);
  await vi.waitFor(() => expect(about(untraced)).toHaveLength(1), patient);
  world.feed.publish(traced);
  const spansNamed = (name: string) => collector.spans.filter((span) => span.name === name);
  await vi.waitFor(() => expect(spansNamed("POST webhook")).toHaveLength(2), patient);
  await vi.waitFor(() => expect(spansNamed("ingest snapshot")).toHaveLength(1), patient);

  const posts = spansNamed("POST webhook").map((span) => [span.traceId, span.parentSpanId, attributesOf(span)]);
  const attempt = (number: number, more: object) =>
    expect.objectContaining({ "vidimus.document.id": traced.documentId, "vidimus.attempt": number, ...more });
  expect(posts).toEqual([
    [traceId, publication, attempt(1, { "http.response.status_code": 503, "error.type": "503" })],
    [traceId, publication, attempt(2, { "http.response.status_code": 204 })],
  ]);
  const [ingest] = spansNamed("ingest snapshot");
  expect(ingest).toMatchObject({ traceId, parentSpanId: publication, kind: 5 });
  const sign = collector.spans.find(({ name }) => name.endsWith("SigningService/SignSnapshots"));
  expect(sign).toMatchObject({ traceId, parentSpanId: ingest!.spanId });
});
