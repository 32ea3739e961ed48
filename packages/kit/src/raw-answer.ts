import { STATUS_CODES } from "node:http";

/** An answer as HTTP/1.1 text, for bytes that never became a request; it closes the connection. */
export function rawAnswer(status: number, headers: Readonly<Record<string, string>>, body: string): string {
  const all = { ...headers, "content-length": Buffer.byteLength(body), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
