import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/**
 * Reads one JSON value from each line. Skips blank lines.
 *
 * @throws TypeError naming the first line that is not JSON
 */
export async function* readJsonLines(input: Readable): AsyncGenerator {
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() !== "") yield parse(line, number);
  }
}

function parse(line: string, number: number): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch (error) {
    throw new TypeError(`line ${number} is no JSON`, { cause: error });
  }
}

/** Writes one JSON value a line. Waits while the output's buffer is full. */
export async function writeJsonLines(output: Writable, values: AsyncIterable<unknown>): Promise<void> {
  for await (const value of values) {
    if (!output.write(`${JSON.stringify(value)}\n`)) await once(output, "drain");
  }
}
