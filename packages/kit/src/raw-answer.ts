import { STATUS_CODES } from "node:http";

/** The HTTP/1.1 text of an answer to bytes that Node could not read as a request. */
export function rawAnswer(status: number, headers: Readonly<Record<string, string>>, body: string): string {
  const all = { ...headers, "content-length": Buffer.byteLength(body), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
