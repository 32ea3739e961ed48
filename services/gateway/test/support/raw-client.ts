import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawClient extends Disposable {
  readonly socket: Socket;
  /** What came back so far; pieces that come after the first 4 KiB are dropped. */
  text(): string;
  /**
   * Resolves with the status of the first answer as soon as its head is there; 0 when the
   * connection ended before.
   */
  readonly status: Promise<number>;
  readonly ended: Promise<void>;
}

interface RawClientOptions {
  /** The client reads nothing. */
  readonly unread?: boolean;
  readonly allowHalfOpen?: boolean;
}

/** Resolves once the connection is open; the text is then being written. */
export async function rawClient(
  port: number,
  text: string | Buffer,
  { unread = false, allowHalfOpen = false }: RawClientOptions = {},
): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen });
  const status = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  let answer = "";
  if (unread) socket.pause();
  else
    socket.on("data", (chunk) => {
      if (answer.length < 4096) answer += chunk.toString("latin1");
      const [, code] = /^HTTP\/1\.1 (\d+) /.exec(answer) ?? [];
      if (code !== undefined && answer.includes("\r\n\r\n")) status.resolve(Number(code));
    });
  socket.on("error", () => {});
  socket.once("close", () => {
    status.resolve(0);
    ended.resolve();
  });
  await once(socket, "connect");
  socket.write(text);
  return {
    socket,
    text: () => answer,
    status: status.promise,
    ended: ended.promise,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** The head of an HTTP/1.1 request, with `host: x` unless the headers have a host. */
export function requestHead(line: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: "x", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join("")}\r\n`;
}
