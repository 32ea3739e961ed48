import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { openTrace } from "./exchange-span.ts";

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";

/** The traceparent that a request with this header has while tracing is off. */
function traceparentOf(traceparent?: string): string {
  const request = { headers: { traceparent } } as unknown as FastifyRequest;
  openTrace(request, undefined);
  return request.traceparent;
}

test.each(["00", "01", "03"])(
  "while tracing is off, a client's trace with flags %s is passed on as not recorded",
  (flags) => {
    expect(traceparentOf(`${trace}-${flags}`)).toBe(`${trace}-00`);
  },
);

test.each([
  ["without a traceparent", undefined],
  ["with a malformed traceparent", `${trace}-zz`],
])("while tracing is off, a request %s begins a new trace that is not recorded", (_, header) => {
  const [first, second] = [traceparentOf(header), traceparentOf(header)];
  expect(first).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(first.split("-")[1]).not.toBe(second.split("-")[1]);
});
