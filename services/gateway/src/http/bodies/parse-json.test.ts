import { expect, test } from "vitest";
import { endpointInput, endpointPatch } from "../../endpoints/webhooks/endpoint-schemas.ts";
import { HttpError } from "../../errors/http-error.ts";
import { jsonParser } from "./parse-json.ts";

const url = "https://a.example/";
const events = "snapshot.usable, snapshot.withheld, endpoint.disabled, endpoint.expiring, endpoint.recovered";

function detailsOf(schema: Parameters<typeof jsonParser>[0], body: unknown) {
  try {
    jsonParser(schema)(Buffer.from(JSON.stringify(body)));
  } catch (error) {
    if (error instanceof HttpError) return error.details;
    throw error;
  }
  return [];
}

test.each([
  [
    { url, nam: "x" },
    "",
    'knows no "nam"; there are url, name, description, secret, events, documentTypes, headers, maxInFlight, ratePerSecond, enabled, verify',
  ],
  [
    { url, headers: { X_A: "1" } },
    "/headers",
    'knows no "X_A": names must be letters, digits and hyphens, at most 64, and begin with a letter',
  ],
  [
    { url, headers: { "X-A": " 1" } },
    "/headers/X-A",
    "must be 1 to 1024 visible ASCII characters, with spaces only between them",
  ],
  [{ url, events: ["snapshot.draft"] }, "/events/0", `must be one of ${events}`],
  [{ url, documentTypes: ["article"] }, "/documentTypes/0", "must be a document type such as core/article"],
  [{ url, events: [] }, "/events", "must have at least 1 item"],
  [{ url: "" }, "/url", "must have 1 to 2048 characters"],
  [{ url: 1 }, "/url", "must be a string"],
  [{ url, maxInFlight: 0 }, "/maxInFlight", "must be from 1 to 128"],
  [{ url, enabled: "no" }, "/enabled", "must be true or false"],
  [{}, "", 'lacks "url"'],
  [[], "", "must be an object"],
])("the refusal of the body %j points at the fault and says how to mend it", (body, pointer, message) => {
  expect(detailsOf(endpointInput, body)).toEqual([{ pointer, message }]);
});

test("the refusal of a body with nine unknown members names one of them", () => {
  const names = Array.from({ length: 9 }, (_, n) => `a/${n}`);
  const details = detailsOf(endpointInput, { url, ...Object.fromEntries(names.map((name) => [name, 1])) });
  expect(details).toEqual([{ pointer: "", message: expect.stringMatching(/^knows no "a\/\d"; there are url, name/) }]);
});

test("a patch without members is refused: it must have at least one", () => {
  expect(detailsOf(endpointPatch, {})).toEqual([{ pointer: "", message: "must have at least 1 member" }]);
});

test("the message for a body with two faults tells only the first fault, with the name of the member", () => {
  const parse = jsonParser(endpointInput);
  const body = Buffer.from(JSON.stringify({ url, maxInFlight: 500, enabled: "no" }));
  expect(() => parse(body)).toThrow(/^maxInFlight must be from 1 to 128$/);
});
