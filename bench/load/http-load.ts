import { connect, type Socket } from "node:net";

/** A closed-loop HTTP/1.1 load: every connection sends its next request when the last one was answered. */
export interface LoadOptions {
  readonly url: URL;
  readonly connections: number;
  readonly durationMs: number;
  /** The next request, head and body; called once a request. */
  next(): Buffer;
  /** The status that counts as done; any other fails the run. */
  readonly expectedStatus: number;
}

/** What a load did. */
export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Runs a load over raw sockets, so that the client's own cost stays far below the server's. Understands answers with
 * Content-Length only. Rejects on an unexpected status or a lost connection.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  const started = performance.now();
  const until = started + options.durationMs;
  await Promise.all(Array.from({ length: options.connections }, () => drive(options, until, latencies)));
  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return { requests: latencies.length, perSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function drive(options: LoadOptions, until: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: options.url.hostname, port: Number(options.url.port), noDelay: true });
    let sent = 0;
    let buffered: Buffer = Buffer.alloc(0);
    const send = () => {
      if (performance.now() >= until) {
        socket.end();
        return resolve();
      }
      sent = performance.now();
      socket.write(options.next());
    };
    socket.once("connect", send);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed")));
    socket.on("data", (chunk: Buffer) => {
      buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
      const answer = takeAnswer(buffered);
      if (!answer) return;
      buffered = buffered.subarray(answer.length);
      if (answer.status !== options.expectedStatus) return fail(socket, reject, buffered, answer.status);
      latencies.push(performance.now() - sent);
      send();
    });
  });
}

function fail(socket: Socket, reject: (reason: Error) => void, rest: Buffer, status: number): void {
  socket.destroy();
  reject(new Error(`unexpected status ${status} ${rest.toString()}`));
}

function takeAnswer(bytes: Buffer): { status: number; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const contentLength = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const length = headEnd + 4 + Number(contentLength ?? 0);
  return bytes.length < length ? undefined : { status: Number(head.slice(9, 12)), length };
}

/** Head and body of one request. */
export function httpRequest(method: string, path: string, headers: Record<string, string>, body = ""): Buffer {
  const lines = Object.entries({ host: "bench", ...headers, "content-length": String(Buffer.byteLength(body)) });
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
  );
}
