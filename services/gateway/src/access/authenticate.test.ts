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
  [[], "the Authorization header is missing"],
  [[`Bearer ${key}`, `Bearer ${key}`], "the Authorization header is there more than once"],
  [[""], "the Authorization header is malformed"],
  [[key], "the Authorization header is malformed"],
  [[`Basic ${key}`], "the Authorization header is malformed"],
  [["Bearer"], "the Authorization header is malformed"],
  [[`Bearer ${key} ${key}`], "the Authorization header is malformed"],
  [[`Bearer ${key.slice(0, -5)}`], "the Authorization header is malformed"],
  [["Bearer <API_KEY>"], "the Authorization header is malformed"],
  [[`Bearer ${" ".repeat(200)}${key}`], "the Authorization header is malformed"],
])("a 401 for the header %j says what is wrong with it, and which form is right", (headers, fault) => {
  const form = "Authorization: Bearer <API_KEY>, a key of 65 characters that begins with vk_";
  expect(unauthorized(requestWith(...headers)).message).toBe(`${fault}: ${form}`);
});

test.each([key, mistyped])("a 401 of a well-formed key does not say why the key is not valid", (presented) => {
  expect(unauthorized(requestWith(`bearer  ${presented}`)).message).toBe("the API key is not valid");
});
