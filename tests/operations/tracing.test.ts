/** OpenTelemetry: a push, its publication, its signature and its webhook are one trace. */
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import {
  attributesOf,
  openOtlpReceiver,
  type OtlpReceiver,
  type ReceivedSpan,
} from "@vidimus/kit/testing/otlp-receiver";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { article, as, type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";

const recorder = pathToFileURL(join(import.meta.dirname, "../support/record-packages.ts")).href;
/** The trace that the client of the push began, and its span. */
const client = { traceId: randomBytes(16).toString("hex"), spanId: randomBytes(8).toString("hex") };
const traceparent = `00-${client.traceId}-${client.spanId}-01`;
const secretTitle = "a title that no span may hold";

let collector: OtlpReceiver;
let stack: ProcessConstellation;
let room: Newsroom;
let receiver: Receiver;
let dir: string;
let endpointSecret: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-tracing-"));
  collector = await openOtlpReceiver();
  receiver = await openReceiver();
  stack = await openProcessConstellation({
    LOG_LEVEL: "info",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: "50",
    NODE_OPTIONS: `--import=${recorder}`,
    RECORDED_PACKAGES: join(dir, "packages"),
  });
  room = openNewsroom(stack.dev);
  const url = `${receiver.url}/secret-path?token=secret-token`;
  endpointSecret = (await room.endpoints.createEndpoint({ tenantId: room.tenantId, url })).secret;
  await publishOne();
  expect((await room.request("/v1/phrases")).status).toBe(200);
});
afterAll(async () => {
  room?.[Symbol.dispose]();
  await stack?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
  await collector?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** Pushes a document and publishes it, both within the client's trace. */
async function publishOne(): Promise<void> {
  const draft = article({ title: secretTitle });
  const headers = { "content-type": "application/json", traceparent };
  const pushed = await room.request("/v1/documents", { method: "POST", headers, body: JSON.stringify(draft) });
  expect(pushed.status).toBe(201);
  const transition = { documentId: draft.id, name: "publish", expectedVersion: 1n };
  const asEditor = { headers: { ...as("editor").headers, traceparent } };
  await room.documents.transitionDocument({ tenantId: room.tenantId, transition }, asEditor);
  await receiver.about(draft.id);
}

function trace(): readonly ReceivedSpan[] {
  return collector.spans.filter(({ traceId }) => traceId === client.traceId);
}

const kinds = ["", "internal", "server", "client", "producer", "consumer"];

/** The trace as lines of service, kind and name, each step under the one that it belongs to. */
function tree(parentSpanId = client.spanId, indent = ""): string[] {
  return trace()
    .filter((span) => span.parentSpanId === parentSpanId)
    .toSorted((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)))
    .flatMap(({ service, kind, name, spanId }) =>
      [`${indent}${service} ${kinds[kind]} ${name.replace(/^.*\./, "")}`].concat(tree(spanId, `${indent}  `)),
    );
}

test("a push, its publication, its signature and its webhook belong to the client's trace", async () => {
  const steps = [
    "gateway server POST /v1/documents",
    "  gateway client DocumentService/BatchCreateDocuments",
    "    documents server DocumentService/BatchCreateDocuments",
    "documents server DocumentService/TransitionDocument",
    "  documents internal transition transaction",
    "  delivery consumer ingest snapshot",
    "    delivery client SnapshotFeedService/GetSnapshots",
    "      documents server SnapshotFeedService/GetSnapshots",
    "    delivery client SigningService/SignSnapshots",
    "    delivery client SnapshotFeedService/SettleSnapshots",
    "      documents server SnapshotFeedService/SettleSnapshots",
    "  delivery client POST webhook",
  ];
  await vi.waitFor(() => expect(tree()).toEqual(steps), patient);
});

test("a request to the public port is traced even when its traceparent says it is not sampled", async () => {
  const unasked = "5".repeat(32);
  const headers = { traceparent: `00-${unasked}-${"6".repeat(16)}-00` };
  expect((await room.request("/v1/documents?type=core/tag", { headers })).status).toBe(200);
  const recorded = () => collector.spans.filter(({ traceId }) => traceId === unasked).map(({ name }) => name);
  await vi.waitFor(() => expect(recorded()).toContain("GET /v1/documents"), patient);
});

describe("spans", () => {
  const spanNamed = (name: string) => trace().find((span) => span.name === name)!;

  test("of the push and the webhook have attributes of OpenTelemetry's conventions and of Vidimus", async () => {
    await vi.waitFor(() => expect(trace()).toHaveLength(12), patient);
    expect(attributesOf(spanNamed("POST /v1/documents"))).toEqual({
      "http.request.method": "POST",
      "http.route": "/v1/documents",
      "http.response.status_code": 201,
      "vidimus.request.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "vidimus.tenant.id": "demo",
    });
    const { port } = new URL(receiver.url);
    expect(attributesOf(spanNamed("POST webhook"))).toEqual({
      "http.request.method": "POST",
      "http.response.status_code": 204,
      "server.address": "127.0.0.1",
      "server.port": Number(port),
      "vidimus.tenant.id": "demo",
      "vidimus.document.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "vidimus.snapshot.sequence": 1,
      "vidimus.endpoint.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "vidimus.webhook.id": expect.stringMatching(/^snp_/),
      "vidimus.attempt": 1,
    });
  });

  test("hold no API key, webhook secret, title, or path or query of a receiver's URL", async () => {
    await vi.waitFor(() => expect(trace()).toHaveLength(12), patient);
    const exported = collector.bodies.join("\n");
    for (const secret of [room.apiKey, endpointSecret, secretTitle, "secret-path", "secret-token"]) {
      expect(exported).not.toContain(secret);
    }
  });

  test("come from gateway, documents, phrases and delivery, and not from signing", async () => {
    const services = () => [...new Set(collector.spans.map(({ service }) => service))].toSorted();
    await vi.waitFor(() => expect(services()).toEqual(["delivery", "documents", "gateway", "phrases"]), patient);
  });
});

test("a webhook has no traceparent header", () => {
  expect(receiver.received.length).toBeGreaterThan(0);
  expect(receiver.received.filter(({ headers }) => "traceparent" in headers)).toEqual([]);
});

test("the logs of gateway and delivery contain the id of the client's trace", async () => {
  const logOf = (service: string) => readFile(join(stack.stateDir, "logs", `${service}.log`), "utf8");
  expect(await logOf("gateway")).toContain(client.traceId);
  expect(await logOf("delivery")).toContain(client.traceId);
});

describe("OpenTelemetry's SDK", () => {
  /** prom-client loads this package for its exemplars. */
  const api = "@opentelemetry/api";
  const loadedBy = async (service: string) => {
    const lines = (await readFile(join(dir, "packages"), "utf8")).trim().split("\n");
    return lines.flatMap((line) => (line.startsWith(`${service} `) ? [line.slice(service.length + 1)] : []));
  };

  test.each(["gateway", "documents", "phrases", "delivery"])(
    "is loaded by %s when a collector is configured",
    async (service) => {
      expect(await loadedBy(service)).toContain("@opentelemetry/sdk-trace");
    },
  );

  test("is not loaded by signing, even when a collector is configured", async () => {
    expect(await loadedBy("signing")).toEqual([api]);
  });

  test("is not loaded by an import of gateway, documents, phrases and delivery", async () => {
    const services = ["gateway", "documents", "phrases", "delivery"];
    const imports = services.map((name) => `await import("@vidimus/${name}/${name}");`).join("");
    const packages = join(dir, "imported");
    const env = { ...process.env, RECORDED_PACKAGES: packages };
    const root = join(import.meta.dirname, "../..");
    await promisify(execFile)(process.execPath, ["--import", recorder, "--input-type=module", "-e", imports], {
      cwd: root,
      env,
    });
    expect(await readFile(packages, "utf8")).toBe(`another program ${api}\n`);
  });
});
