import { expect, test } from "vitest";
import { parseJson } from "./json.ts";
import { toDocument } from "./to-document.ts";

const id = "3F2504E0-4F89-41D3-9A0C-0305E82C3301";

function read(text: string) {
  return toDocument(parseJson(text) as Record<string, unknown>);
}

test("a document in the platform's own form passes unchanged", () => {
  const text = `{"id":"${id}","type":"core/article","title":"A","tenantId":"t","meta":{"n":1e-7}}`;
  expect(read(text)).toEqual({ id: id.toLowerCase(), json: text });
});

test("a document keeps the digits of an integer that no double equals", () => {
  const text = `{"id":"${id}","type":"core/tag","meta":{"n":9007199254740993,"m":9007199254740992}}`;
  expect(read(text).json).toBe(text);
});

test("a ninjs item also keeps the digits of an integer that no double equals", () => {
  expect(read('{"uri":"urn:x","type":"text","vendor":12345678901234567891}').json).toContain(":12345678901234567891}");
});

test.each([
  ['{"type":"core/article","title":"A"}', "without an id"],
  ['{"id":"17","type":"core/article"}', "without an id of the form 8-4-4-4-12 hex"],
  ['{"version":1,"payload":{"type":"core/article"}}', "wrapped"],
  ['{"title":"A"}', "no id"],
  ['{"uri":7,"type":"text"}', "no uri"],
])("%s is refused as damaged: %s", (text, reason) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(reason), unmappable: false }),
  );
});
