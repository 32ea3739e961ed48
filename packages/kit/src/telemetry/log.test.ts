import { expect, it } from "vitest";
import { createLogger } from "./log.ts";

/** The line that a logger writes for an event, parsed. */
function lineOf(fields: object): unknown {
  const lines: string[] = [];
  createLogger("demo", "info", { write: (line) => void lines.push(line) }).info(fields, "event");
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0]!);
}

it("a line has its time, level and service", () => {
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(lineOf({ tenant: "acme", ms: 3, detail: undefined })).toEqual({
    level: "info",
    time,
    service: "demo",
    tenant: "acme",
    ms: 3,
    msg: "event",
  });
});

it("the values of `authorization`, `secret` and `key` are hidden, in a line and in an object in it", () => {
  const secrets = { authorization: "Bearer vk_1_2", secret: "whsec_1", key: { id: 1 } };
  const hidden = { authorization: "[redacted]", secret: "[redacted]", key: "[redacted]" };
  expect(lineOf({ ...secrets, id: 7, request: { ...secrets, path: "/v1" } })).toMatchObject({
    ...hidden,
    id: 7,
    request: { ...hidden, path: "/v1" },
  });
});

it("logging does not change the logged objects", () => {
  const given = { secret: "whsec_1", request: { key: "vk_1" }, ids: ["a"], at: new Date(0) };
  expect(lineOf(given)).toMatchObject({ secret: "[redacted]", ids: ["a"], at: "1970-01-01T00:00:00.000Z" });
  expect(given).toEqual({ secret: "whsec_1", request: { key: "vk_1" }, ids: ["a"], at: new Date(0) });
});

const payload = { key: "vk_1", result: { op: "vk_1" } };
const err = Object.assign(new Error("refused", { cause: new Error("why") }), payload, { code: "ECONNREFUSED" });

it("a line about an error has its message, code and cause", () => {
  const line = lineOf({ err });
  expect(line).toMatchObject({ err: { type: "Error", message: "refused", code: "ECONNREFUSED" } });
  expect(line).toMatchObject({ err: { cause: { message: "why" } } });
});

it("a line about an error leaves out its properties `key` and `result`, which may carry payload", () => {
  expect(JSON.stringify(lineOf({ err }))).not.toContain("vk_1");
});
