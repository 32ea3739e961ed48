import { connect } from "node:net";

/** The first answer on a connection, and the statuses of all answers. */
interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly statuses: readonly number[];
}

export interface RawOptions {
  /** Local address of the connection; all of 127.0.0.0/8 is this machine's. */
  readonly from?: string;
  /** Whether the client ends its side of the connection after the bytes. */
  readonly end?: boolean;
}

/**
 * Writes bytes to a port of this machine and reads until the connection ends. The request must make
 * the gateway end the connection.
 */
export async function rawRequest(port: number, text: string, options?: RawOptions): Promise<RawAnswer> {
  return readAnswer(await rawText(port, text, options));
}

/** Like `rawRequest`, but returns the text. Rejects when the connection is idle for 20 s. */
export function rawText(
  port: number,
  text: string | Buffer,
  { from = "127.0.0.1", end = false }: RawOptions = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1", localAddress: from }, () => {
    socket.write(text);
    if (end) socket.end();
  });
  let answer = "";
  socket.setTimeout(20_000, () => {
    socket.destroy();
    reject(new Error(`the connection stays open; so far: ${answer.slice(0, 1200)}`));
  });
  socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
  socket.on("error", () => {});
  socket.on("close", () => resolve(answer));
  return promise;
}

function readAnswer(answer: string): RawAnswer {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const lines = head.split("\r\n").slice(1);
  return {
    status: Number(head.split(" ")[1]),
    headers: new Headers(lines.map((line) => line.split(/: ?(.*)/).slice(0, 2) as [string, string])),
    body,
    statuses: [...answer.matchAll(/^HTTP\/1.1 (\d{3})/gm)].map(([, status]) => Number(status)),
  };
}
