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

test.each([
  ["that is empty", ""],
  ["that begins with a space", " a"],
  ["that ends with a space", "a "],
  ["that would add a header", "a\r\nx-b: 1"],
  ["with a line break", "a\nb"],
  ["outside of ASCII", "ä"],
  ["with a NUL character", "\u0000"],
  ["of 1,025 characters", "a".repeat(1_025)],
])("a header value %s is refused with a message that names the header", (_, value) => {
  expect(() => requireHeaders({ "x-team": value })).toThrow(
    "headers/x-team must have 1 to 1024 visible ASCII characters",
  );
});

test("headers are kept under their lowercase names", () => {
  expect(requireHeaders({ Authorization: "Basic eA==", "X-Team": "a b" })).toEqual({
    authorization: "Basic eA==",
    "x-team": "a b",
  });
});

test("a header that is given twice, in different case, is refused", () => {
  expect(() => requireHeaders({ "X-Team": "1", "x-team": "2" })).toThrow("given twice");
});

test("at most 16 headers are accepted", () => {
  const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, "1"]));
  expect(requireHeaders(headers(16))).toEqual(headers(16));
  expect(() => requireHeaders(headers(17))).toThrow("at most 16");
});

test("an event that is given twice is kept once", () => {
  expect(requireEvents(["endpoint.disabled", "snapshot.usable", "snapshot.usable"])).toEqual([
    "snapshot.usable",
    "endpoint.disabled",
  ]);
});

test("an unknown event is refused", () => {
  expect(() => requireEvents(["snapshot.draft"])).toThrow('knows no "snapshot.draft"');
});

test("a list without events is refused", () => {
  expect(() => requireEvents([])).toThrow("at least one");
});

test("an empty list of document types means all types", () => {
  expect(requireDocumentTypes([])).toBeUndefined();
});

test("a document type that is given twice is kept once", () => {
  expect(requireDocumentTypes(["core/tag", "core/tag"])).toEqual(["core/tag"]);
});

test("a document type must look like core/tag", () => {
  expect(() => requireDocumentTypes(["article"])).toThrow("documentTypes/0 must be a document type");
});

test("maxInFlight must be an integer from 1 to 128", () => {
  expect([requireMaxInFlight(1), requireMaxInFlight(128)]).toEqual([1, 128]);
  for (const count of [0, 129, 1.5, Number.NaN]) expect(() => requireMaxInFlight(count)).toThrow("maxInFlight");
});

test("the rate must be from 0.1 to 1,000, or 0 for no limit", () => {
  expect([requireRate(0), requireRate(0.1), requireRate(1_000)]).toEqual([undefined, 0.1, 1_000]);
  for (const rate of [-1, 0.05, 1_001, Number.NaN, Infinity]) expect(() => requireRate(rate)).toThrow("ratePerSecond");
});
