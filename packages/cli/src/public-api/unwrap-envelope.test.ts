import { expect, test } from "vitest";
import { unwrapEnvelope } from "./unwrap-envelope.ts";

async function stripped(text: string, size: number): Promise<string> {
  async function* pieces() {
    for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
  }
  const parts = [];
  for await (const part of unwrapEnvelope(pieces())) parts.push(part);
  return Buffer.concat(parts).toString();
}

test.each([1, 2, 17, 18, 19, 1_000])(
  "the value of data passes byte for byte from an answer in pieces of %s bytes",
  async (size) => {
    const data = '{"phrases":[{"phrase":"}}"},{"phrase":"a"}]}';
    expect(await stripped(`{"ok":true,"data":${data}}`, size)).toBe(data);
  },
);

test.each(["", '{"ok":true,"data":', '{"ok":true,"data":[]', '{"ok":false,"error":{}}', "[]"])(
  "the answer %j is refused, because it is no complete envelope with data",
  async (text) => {
    await expect(stripped(text, 3)).rejects.toThrow("envelope");
  },
);
