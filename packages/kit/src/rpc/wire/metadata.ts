import { Code, ConnectError, encodeBinaryHeader } from "@connectrpc/connect";
import { Metadata } from "@grpc/grpc-js";

/** Headers that grpc-js writes itself. The same headers from callers and handlers are dropped. */
const protocolHeaders = new Set([
  "content-type",
  "te",
  "grpc-timeout",
  "grpc-encoding",
  "grpc-accept-encoding",
  "grpc-status",
  "grpc-message",
]);

/**
 * Drops protocol headers. A plain record, the usual case, is read without making Headers.
 *
 * @throws ConnectError InvalidArgument for a name or value that gRPC cannot carry
 */
export function requestMetadata(headers: HeadersInit | undefined): Metadata {
  const metadata = new Metadata();
  if (headers === undefined) return metadata;
  if (headers instanceof Headers || Symbol.iterator in headers) {
    new Headers(headers).forEach((value, key) => addOrRefuse(metadata, key, value));
    return metadata;
  }
  for (const key in headers) {
    const value: unknown = headers[key];
    if (typeof value === "string") addOrRefuse(metadata, key.toLowerCase(), value);
  }
  return metadata;
}

function addOrRefuse(metadata: Metadata, key: string, value: string): void {
  try {
    add(metadata, key, value);
  } catch (cause) {
    const message = `the metadata "${key}" must be printable ASCII`;
    throw new ConnectError(message, Code.InvalidArgument, undefined, undefined, cause);
  }
}

/** Drops values that gRPC cannot carry: an error here would replace the outcome of the call. */
export function responseMetadata(headers: Headers): Metadata {
  const metadata = new Metadata();
  headers.forEach((value, key) => {
    try {
      add(metadata, key, value);
    } catch {
      metadata.remove(key);
    }
  });
  return metadata;
}

function add(metadata: Metadata, key: string, value: string): void {
  if (protocolHeaders.has(key)) return;
  if (!key.endsWith("-bin")) return metadata.add(key, value);
  for (const item of value.split(",")) metadata.add(key, Buffer.from(item, "base64"));
}

/** Binary values become base64, as in Connect. */
export function toHeaders(metadata: Metadata | undefined): Headers {
  const headers = new Headers();
  for (const [key, values] of Object.entries(metadata?.toJSON() ?? {})) {
    for (const value of values) headers.append(key, typeof value === "string" ? value : encodeBinaryHeader(value));
  }
  return headers;
}
