import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { mintApiKey } from "./api-key.ts";
import { unauthorized } from "./authenticate.ts";

function requestWith(...authorization: string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = authorization.flatMap((value) => ["Authorization", value]);
  Object.defineProperty(request, "headersDistinct", { value: authorization.length > 0 ? { authorization } : {} });
  return request;
}

const { key } = mintApiKey();
const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;

test.each([
  ["no header", [], "is missing"],
  ["two headers", [`Bearer ${key}`, `Bearer ${key}`], "is there more than once"],
  ["an empty header", [""], "is malformed"],
  ["a key without a scheme", [key], "is malformed"],
  ["another scheme", [`Basic ${key}`], "is malformed"],
  ["a scheme alone", ["Bearer"], "is malformed"],
  ["two keys", [`Bearer ${key} ${key}`], "is malformed"],
  ["a key that is too short", [`Bearer ${key.slice(0, -5)}`], "is malformed"],
  ["a placeholder", ["Bearer <API_KEY>"], "is malformed"],
  ["200 spaces before the key", [`Bearer ${" ".repeat(200)}${key}`], "is malformed"],
])("the 401 for %s names the fault of the header together with the right form", (_, headers, fault) => {
  const form = "Authorization: Bearer <API_KEY>, a key of 65 characters that begins with vk_";
  expect(unauthorized(requestWith(...headers)).message).toBe(`the Authorization header ${fault}: ${form}`);
});

test.each([
  ["an unknown key", key],
  ["a mistyped key", mistyped],
])("the 401 for %s does not say why the key is not valid", (_, presented) => {
  expect(unauthorized(requestWith(`bearer  ${presented}`)).message).toBe("the API key is not valid");
});
