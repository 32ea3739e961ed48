import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readFeed } from "./read-feed.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-feed-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function entriesOf(name: string, content: string | Uint8Array) {
  const file = join(dir, name);
  await writeFile(file, content);
  return namesAndRest(file);
}

async function namesAndRest(file: string) {
  const entries: (readonly [string, { value: unknown } | { fault: string }])[] = [];
  for await (const entry of readFeed(file)) {
    const read = "value" in entry ? { value: entry.value } : { fault: entry.fault };
    entries.push([entry.name.slice(dir.length + 1), read]);
  }
  return entries;
}

test("a .json file with an object on each line has an entry per line, even if the first has 100 KB", async () => {
  const long = JSON.stringify({ uri: "a", text: "x".repeat(100_000) });
  const entries = await entriesOf("lines.json", `${long}\n{"uri":"b"}\n`);
  expect(entries.map(([name]) => name)).toEqual(["lines.json:1", "lines.json:2"]);
});

test("a file with one object is one entry", async () => {
  expect(await entriesOf("one.json", ' \n{"uri":"a"}\n')).toEqual([["one.json", { value: { uri: "a" } }]]);
});

test("each member of a list is an entry, which is a fault if the member is no object", async () => {
  expect(await entriesOf("list.json", '[{"uri":"a"}, 7, null, [], "x", {"uri":"b"}]')).toEqual([
    ["list.json[0]", { value: { uri: "a" } }],
    ["list.json[1]", { fault: "is a number, not an object" }],
    ["list.json[2]", { fault: "is null, not an object" }],
    ["list.json[3]", { fault: "is a list, not an object" }],
    ["list.json[4]", { fault: "is a string, not an object" }],
    ["list.json[5]", { value: { uri: "b" } }],
  ]);
});

test("NDJSON may have a byte order mark, CRLF and blank lines, in an .ndjson and in a .json file", async () => {
  for (const name of ["lines.ndjson", "lines.json"]) {
    expect(await entriesOf(name, '\ufeff{"id":"a"}\r\n\r\n{"id":"b"}\n')).toEqual([
      [`${name}:1`, { value: { id: "a" } }],
      [`${name}:3`, { value: { id: "b" } }],
    ]);
  }
});

test("a line of NDJSON that is not JSON is a fault, and the lines around it are entries", async () => {
  expect(await entriesOf("bad.ndjson", '{"id":"a"}\n{"id":\n{"id":"b"}\n')).toEqual([
    ["bad.ndjson:1", { value: { id: "a" } }],
    ["bad.ndjson:2", { fault: expect.stringContaining("is not JSON") }],
    ["bad.ndjson:3", { value: { id: "b" } }],
  ]);
});

test("an .ndjson file of a single line is one entry, named with the number of the line", async () => {
  expect(await entriesOf("single.ndjson", '{"id":"a"}')).toEqual([["single.ndjson:1", { value: { id: "a" } }]]);
});

test.each([
  ["malformed.json", "is not JSON", '{"uri": "a",}'],
  ["cut.json", "is not JSON", '[{"uri":"a"},\n{"uri"'],
  ["empty.json", "is empty", ""],
  ["blank.ndjson", "is empty", "\n \n"],
  ["none.json", "is an empty list", "[]"],
  ["latin1.json", "is not UTF-8", Buffer.from('{"uri":"\u00e9"}', "latin1")],
  ["latin1.ndjson", "is not UTF-8", Buffer.from('{"uri":"\u00e9"}', "latin1")],
])("the file %s is read as one fault: it %s", async (name, fault, content) => {
  const entries = await entriesOf(name, content);
  expect(entries).toEqual([[expect.stringContaining(name), { fault: expect.stringContaining(fault) }]]);
});

test("a folder is read as one fault, which asks for the files in the folder", async () => {
  expect(await namesAndRest(`${dir}/`)).toEqual([["", { fault: "is a folder; name the files in it" }]]);
});

test("a .json or .ndjson file that does not exist is read as one fault", async () => {
  expect(await namesAndRest(`${dir}/gone.json`)).toEqual([["gone.json", { fault: expect.stringContaining("ENOENT") }]]);
  expect(await namesAndRest(`${dir}/gone.ndjson`)).toEqual([
    ["gone.ndjson", { fault: expect.stringContaining("ENOENT") }],
  ]);
});
