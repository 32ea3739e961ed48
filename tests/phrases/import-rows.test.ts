/**
 * Section 4.6 of the public contract: an import of too many rows is refused while it is still being
 * sent.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { sharedConstellation } from "../support/shared-constellation.ts";
import { openTenants } from "../support/tenants.ts";

const rowsMax = 50_000;
let gateway: string;
let apiKey: string;

beforeAll(async () => {
  const { dev } = await sharedConstellation();
  using tenants = openTenants(dev);
  ({ gateway } = dev);
  ({ apiKey } = await tenants.create());
});

/** Sends a body piece by piece without its end; resolves with the answer. */
async function answerTo(pieces: readonly string[], type: string): Promise<{ status: number; message: string }> {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": type };
  const sending = request(`${gateway}/v1/phrases/import`, { method: "POST", headers });
  const answered = once(sending, "response");
  for (const piece of pieces) sending.write(piece);
  const [response] = (await answered) as [IncomingMessage];
  const { error } = JSON.parse(await text(response)) as { error: { message: string } };
  sending.destroy();
  return { status: response.statusCode ?? 0, message: error.message };
}

test.for([
  ["CSV of nothing but commas", "text/csv", "language,phrase\n", ",\n"],
  ["CSV of blank lines", "text/csv", "language,phrase\r\n", "\r\n"],
  ["CSV of quoted line breaks", "text/csv", "language,phrase\n", 'sv,"a\nb"\n'],
  ["an array of empty objects", "application/json", "[", "{},"],
  ["an object of phrases", "application/json", '{"tenant":"x","phrases":[', ' {"a":["]\\"",1,2]} ,'],
] as const)("%s is refused for more than 50,000 rows before the body has ended", { timeout: 15_000 }, async (form) => {
  const [, type, head, row] = form;
  const { status, message } = await answerTo([head, row.repeat(rowsMax), row.repeat(2)], type);
  expect([status, message]).toEqual([400, "nothing was imported: an import has at most 50,000 rows"]);
});

test("50,000 rows are accepted, with a header, CRLF and a last line end", async () => {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "text/csv" };
  const body = `language,phrase\r\n${Array.from({ length: rowsMax }, (_, n) => `sv,ord ${n}\r\n`).join("")}`;
  const response = await fetch(`${gateway}/v1/phrases/import`, { method: "POST", headers, body });
  expect(await response.json()).toEqual({
    ok: true,
    data: { imported: rowsMax, created: rowsMax, changed: 0, unchanged: 0 },
  });
});
