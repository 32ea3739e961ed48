import { expect, test } from "vitest";
import { isRecentSignIn } from "./recent-sign-in.ts";

const now = new Date("2026-11-24T12:00:00Z");
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

test.each([
  ["oidc", 15, false, true],
  ["oidc", 15.01, false, false],
  ["oidc", 15.01, true, false],
  ["link", 15.01, false, false],
  ["link", 600, true, true],
] as const)(
  "a sign-in by %s of %s minutes ago (on loopback: %s) counts as recent: %s",
  (way, minutes, isLoopback, expected) => {
    expect(isRecentSignIn({ way, authTime: minutesAgo(minutes) }, now, isLoopback)).toBe(expected);
  },
);
