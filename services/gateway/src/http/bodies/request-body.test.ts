import { expect, test } from "vitest";
import { acceptBody } from "./request-body.ts";

const rule = { types: ["application/json"], bytesMax: 100 };
const accept = (type: string) => acceptBody({ "content-type": type }, rule);

test.each([
  ["spaces before a broken charset", `application/json; charset=${" ".repeat(15_000)}"x"y`],
  ["spaces before a broken parameter", `application/json;${" ".repeat(15_000)}x`],
  ["empty parameters", `application/json${";".repeat(15_000)}x`],
  ["a quoted string without an end", `application/json; a="${"\\".repeat(15_000)}`],
])("20 Content-Types of more than 15,000 characters are refused within 100 ms: %s", (_, type) => {
  const started = performance.now();
  for (let times = 0; times < 20; times += 1) expect(() => accept(type)).toThrow("Content-Type must be");
  expect(performance.now() - started).toBeLessThan(100);
});

test.each(["application/json", "Application/JSON ; charset=UTF-8", 'application/json;charset="utf8";a=b'])(
  "the Content-Type %s is read as application/json",
  (type) => {
    expect(accept(type)).toBe("application/json");
  },
);

test.each(["application/json; charset=latin1", 'application/json; charset="x"y', "application/json; charset=utf-16"])(
  "the Content-Type %s is refused for its charset",
  (type) => {
    expect(() => accept(type)).toThrow("the charset must be utf-8");
  },
);
