import { once } from "node:events";
import { createServer } from "node:http";
import { portOf } from "../port.ts";

/** A span as OTLP over HTTP carries it in JSON, as far as tests look at it. */
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent or "" on the first span of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly links: readonly Pick<OtlpSpan, "traceId" | "spanId">[];
  /** Code 2 for a failure. */
  readonly status: { readonly code: number };
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

export type ReceivedSpan = OtlpSpan & { readonly service: string };

export interface OtlpReceiver extends AsyncDisposable {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The bodies of the posts that were answered with 200, as they came. */
  readonly bodies: readonly string[];
  /** Sets the status of the answers; undefined leaves posts without an answer. 200 at first. */
  answerWith(status: number | undefined): void;
}

/** Opens a collector on a free port of 127.0.0.1. It takes posts to /v1/traces, in JSON. */
export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: string[] = [];
  const spans: ReceivedSpan[] = [];
  let status: number | undefined = 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (status === undefined) return;
      if (request.url !== "/v1/traces") return void response.writeHead(404).end();
      if (status === 200) {
        const body = Buffer.concat(chunks).toString();
        bodies.push(body);
        spans.push(...spansOf(JSON.parse(body) as OtlpRequest));
      }
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    bodies,
    spans,
    answerWith: (next) => (status = next),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function spansOf({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource)["service.name"]);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => Object.assign(span, { service })));
  });
}

export function attributesOf({
  attributes,
}: Pick<OtlpSpan, "attributes">): Record<string, string | number | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}
