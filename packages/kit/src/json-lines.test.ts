import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { readJsonLines, writeJsonLines } from "./json-lines.ts";

async function allOf(pieces: readonly string[]): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of readJsonLines(Readable.from(pieces))) values.push(value);
  return values;
}

test("values are read back as they were written when the input comes in pieces of 37 characters", async () => {
  const values = Array.from({ length: 500 }, (_, at) => ({ at, text: "line\nend ".repeat(at % 7) }));
  const output = new PassThrough({ highWaterMark: 16 });
  const writing = writeJsonLines(output, Readable.from(values)).then(() => output.end());
  const written = await text(output);
  await writing;
  const pieces = written.match(/[^]{1,37}/g) ?? [];
  expect(await allOf([...pieces, "\n", "  \n"])).toEqual(values);
});

test("the error for a line that is not JSON names the number of the line", async () => {
  await expect(allOf(['{"a":1}\n\n{"b"\n'])).rejects.toThrow("line 3 is no JSON");
});
