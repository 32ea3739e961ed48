import { connect } from "node:net";
import { type LoadResult, summarise } from "./load-result.ts";
import { type HttpMessage, MessageReader } from "./message-reader.ts";

/** A closed-loop HTTP/1.1 load: every connection sends its next request after its last answer. */
interface LoadOptions {
  readonly url: URL;
  readonly connections: number;
  readonly durationMs: number;
  /** Makes the next request, head and body. */
  next(): Buffer;
  /** The expected status; any other fails the run. */
  readonly expectedStatus: number;
  /** Returns false for a body that fails the run; by default none does. */
  isExpected?(body: string): boolean;
}

/**
 * Runs a load over raw sockets, so that the client costs far less than the server. Rejects on an
 * unexpected status or body, or a lost connection.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  const started = performance.now();
  const until = started + options.durationMs;
  await Promise.all(Array.from({ length: options.connections }, () => drive(options, until, latencies)));
  return summarise(latencies, performance.now() - started);
}

function drive(options: LoadOptions, until: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: options.url.hostname, port: Number(options.url.port), noDelay: true });
    const reader = new MessageReader();
    let sent = 0;
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
      const answer = reader.push(chunk);
      if (!answer) return;
      latencies.push(performance.now() - sent);
      if (statusOf(answer) !== options.expectedStatus || options.isExpected?.(answer.body()) === false) {
        socket.destroy();
        return reject(new Error(`unexpected answer ${answer.head} ${answer.body()}`));
      }
      send();
    });
  });
}

function statusOf({ head }: HttpMessage): number {
  return Number(head.slice(9, 12));
}

/** Adds `host`, and `content-length` unless the method is GET. */
export function httpRequest(method: string, path: string, headers: Record<string, string>, body = ""): Buffer {
  const length = method === "GET" ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host: "bench", ...headers, ...length });
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
  );
}
