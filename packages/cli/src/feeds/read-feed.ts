import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { messageOf } from "../cli-error.ts";
import { isJsonObject, type JsonObject } from "../json-object.ts";
import { parseJson } from "./json.ts";

/** One member of a feed, or why the member or its file could not be read. */
export type FeedEntry = {
  /** File and position in it: `a.json`, `list.json[3]` (from 0), `lines.ndjson:12` (from 1). */
  readonly name: string;
  /** The entry's share of the file, for the progress bar. */
  readonly bytes: number;
} & ({ readonly value: JsonObject } | { readonly fault: string });

/**
 * Reads a feed file: one JSON object, an array of objects, or NDJSON. A fault of the file or of a
 * member becomes an entry of its own and is not thrown. NDJSON is read line by line, so its size is
 * not limited by memory.
 */
export async function* readFeed(file: string): AsyncGenerator<FeedEntry, void, void> {
  try {
    yield* (await isNdjson(file)) ? readLines(file) : readDocument(file);
  } catch (error) {
    const isFolder = error instanceof Error && "code" in error && error.code === "EISDIR";
    const fault = isFolder ? "is a folder; name the files in it" : `cannot be read: ${messageOf(error)}`;
    yield { name: file, bytes: 0, fault };
  }
}

/** Bytes read from the start of a file to tell NDJSON from other JSON; its first line must fit. */
const headBytes = 2 * 1024 * 1024;

/**
 * Whether a file is NDJSON: by its extension, or because its first line is a complete JSON object
 * and another line that is not blank follows.
 */
async function isNdjson(file: string): Promise<boolean> {
  if (/\.(ndjson|jsonl)$/i.test(file)) return true;
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(headBytes), 0, headBytes, 0);
  const [first = "", ...rest] = withoutMark(buffer.toString("utf8", 0, bytesRead))
    .trimStart()
    .split("\n");
  return rest.some((line) => line.trim() !== "") && isJsonObject(tryParse(first));
}

async function* readLines(file: string): AsyncGenerator<FeedEntry, void, void> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  let number = 0;
  let entries = 0;
  for await (const line of lines) {
    number++;
    const text = number === 1 ? withoutMark(line) : line;
    if (text.trim() === "") continue;
    entries++;
    yield { name: `${file}:${number}`, bytes: Buffer.byteLength(line) + 1, ...readMember(() => parseText(text)) };
  }
  if (entries === 0) yield { name: file, bytes: 0, fault: "is empty" };
}

async function* readDocument(file: string): AsyncGenerator<FeedEntry, void, void> {
  const bytes = await readFile(file);
  const share = { name: file, bytes: bytes.byteLength };
  if (!isUtf8(bytes)) return yield { ...share, fault: "is not UTF-8" };
  const text = withoutMark(bytes.toString("utf8"));
  if (text.trim() === "") return yield { ...share, fault: "is empty" };
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return yield { ...share, fault: `is not JSON: ${messageOf(error)}` };
  }
  if (!Array.isArray(value)) return yield { ...share, ...readMember(() => value) };
  if (value.length === 0) return yield { ...share, fault: "is an empty list" };
  const members: unknown[] = value;
  for (const [index, member] of members.entries()) {
    yield { name: `${file}[${index}]`, bytes: bytes.byteLength / members.length, ...readMember(() => member) };
  }
}

function readMember(read: () => unknown): { value: JsonObject } | { fault: string } {
  try {
    const value = read();
    return isJsonObject(value) ? { value } : { fault: `is ${kindOf(value)}, not an object` };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

/** Parses a line. Refuses U+FFFD, because readline puts it in place of invalid UTF-8. */
function parseText(text: string): unknown {
  if (text.includes("\ufffd")) throw new TypeError("is not UTF-8, or holds U+FFFD from an earlier mishap");
  try {
    return parseJson(text);
  } catch (error) {
    throw new TypeError(`is not JSON: ${messageOf(error)}`, { cause: error });
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return `a ${typeof value}`;
}

/** Removes the byte order mark, which some exporters write. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, "");
}
