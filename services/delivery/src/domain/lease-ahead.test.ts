import { describe, expect, it } from "vitest";
import { aheadMsOf, isQuick, lanesAhead, meanAnswerMs } from "./lease-ahead.ts";

const kibibyte = 1_024;
const pace = { slots: 32, bodyBytes: 2 * kibibyte, aheadMs: aheadMsOf({ leaseMs: 20_000, attemptMs: 15_000 }) };

describe("lanes leased in advance for an endpoint", () => {
  it("are two for each attempt that the endpoint may have at once, until it has answered", () => {
    expect(lanesAhead(pace)).toBe(64);
  });

  it("are what the endpoint answers in a second, at least two for each attempt at once, at most 1,000", () => {
    expect(lanesAhead({ ...pace, answerMs: 80 })).toBe(400);
    expect(lanesAhead({ ...pace, answerMs: 0.5 })).toBe(1_000);
    expect(lanesAhead({ ...pace, answerMs: 15_000 })).toBe(64);
    expect(lanesAhead({ ...pace, slots: 1, answerMs: 5 })).toBe(200);
  });

  it("are limited by the endpoint's rate per second, but not below two for each attempt at once", () => {
    expect(lanesAhead({ ...pace, answerMs: 5, ratePerSecond: 100 })).toBe(100);
    expect(lanesAhead({ ...pace, answerMs: 5, ratePerSecond: 10 })).toBe(64);
  });

  it("are limited by 8 MiB of bodies, but not below two for each attempt at once", () => {
    expect(lanesAhead({ ...pace, answerMs: 5, bodyBytes: 64 * kibibyte })).toBe(128);
    expect(lanesAhead({ ...pace, answerMs: 5, bodyBytes: 1_024 * kibibyte })).toBe(64);
  });
});

describe("an endpoint", () => {
  it("is quick when it answers at least 256 lanes within a second", () => {
    expect(isQuick({ ...pace, answerMs: 100 }, 0)).toBe(true);
    expect(isQuick({ ...pace, answerMs: 200 }, 0)).toBe(false);
    expect(isQuick({ ...pace, slots: 128, answerMs: 450 }, 0)).toBe(true);
    expect(isQuick({ ...pace, slots: 128, answerMs: 550 }, 0)).toBe(false);
  });

  it("is quick even before its first answer, but not once it has been silent for 200 ms", () => {
    expect(isQuick(pace, 199)).toBe(true);
    expect(isQuick(pace, 200)).toBe(false);
    expect(isQuick({ ...pace, answerMs: 5 }, 200)).toBe(false);
  });
});

it("the mean answer time follows at least four fifths of a change within 16 answers", () => {
  let mean = meanAnswerMs(undefined, 10);
  expect(mean).toBe(10);
  for (let n = 0; n < 16; n++) mean = meanAnswerMs(mean, 1_000);
  expect(mean).toBeGreaterThan(10 + 0.8 * (1_000 - 10));
});
