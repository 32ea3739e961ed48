import { expect, test } from "vitest";
import {
  requireDocumentTypes,
  requireEvents,
  requireHeaders,
  requireMaxInFlight,
  requireRate,
} from "./endpoint-settings.ts";

test.each([
  "Host",
  "connection",
  "Keep-Alive",
  "proxy-authorization",
  "TE",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "content-type",
  "webhook-id",
  "Webhook-Signature",
  "x-vidimus-signature-256",
  "vidimus-event",
  "x-forwarded-for",
  "x_team",
  "a b",
  "a\r\nb",
  "",
  "__proto__",
  "x".repeat(65),
])("the header %j is refused", (name) => {
  expect(() => requireHeaders({ [name]: "1" })).toThrow(`headers/`);
});

test.each(["", " a", "a ", "a\r\nx-b: 1", "a\nb", "ä", "\u0000", "a".repeat(1_025)])(
  "the header value %j is refused with a message that names the header",
  (value) => {
    expect(() => requireHeaders({ "x-team": value })).toThrow(
      "headers/x-team must have 1 to 1024 visible ASCII characters",
    );
  },
);

test("headers are kept under their lowercase names, each once, at most 16", () => {
  expect(requireHeaders({ Authorization: "Basic eA==", "X-Team": "a b" })).toEqual({
    authorization: "Basic eA==",
    "x-team": "a b",
  });
  expect(() => requireHeaders({ "X-Team": "1", "x-team": "2" })).toThrow("given twice");
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`x-${index}`, "1"]));
  expect(() => requireHeaders(many)).toThrow("at most 16");
});

test("at least one event is required, unknown events are refused, and each is kept once", () => {
  expect(requireEvents(["endpoint.disabled", "snapshot.usable", "snapshot.usable"])).toEqual([
    "snapshot.usable",
    "endpoint.disabled",
  ]);
  expect(() => requireEvents(["snapshot.draft"])).toThrow('knows no "snapshot.draft"');
  expect(() => requireEvents([])).toThrow("at least one");
});

test("document types must look like core/tag, and an empty list means all types", () => {
  expect(requireDocumentTypes([])).toBeUndefined();
  expect(requireDocumentTypes(["core/tag", "core/tag"])).toEqual(["core/tag"]);
  expect(() => requireDocumentTypes(["article"])).toThrow("documentTypes/0 must be a document type");
});

test("maxInFlight must be from 1 to 128, and the rate from 0.1 to 1,000 or 0 for no limit", () => {
  expect([requireMaxInFlight(1), requireMaxInFlight(128)]).toEqual([1, 128]);
  expect([requireRate(0), requireRate(0.1), requireRate(1_000)]).toEqual([undefined, 0.1, 1_000]);
  for (const count of [0, 129, 1.5, Number.NaN]) expect(() => requireMaxInFlight(count)).toThrow("maxInFlight");
  for (const rate of [-1, 0.05, 1_001, Number.NaN, Infinity]) expect(() => requireRate(rate)).toThrow("ratePerSecond");
});
