import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection that keeps what came back, as text. */
export interface RawClient extends Disposable {
  readonly socket: Socket;
  /** Everything that came back so far. */
  text(): string;
  /**
   * Resolves with the status of the first answer as soon as its head is there; 0 when the
   * connection ended before.
   */
  readonly status: Promise<number>;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
}

/** How a client behaves. */
interface RawClientOptions {
  /** It reads nothing. */
  readonly unread?: boolean;
  /** The client may keep sending after the server has ended its side. */
  readonly allowHalfOpen?: boolean;
}

/** Connects and writes. */
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

/** The head of a request. */
export function requestHead(line: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: "x", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join("")}\r\n`;
}
