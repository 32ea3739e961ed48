import { expect, test } from "vitest";
import { isRecentSignIn } from "./recent-sign-in.ts";

const now = new Date("2026-11-24T12:00:00Z");
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

const isRecent = (way: "oidc" | "link", minutes: number, where: string) =>
  isRecentSignIn({ way, authTime: minutesAgo(minutes) }, now, where === "on loopback");

test.each([
  ["oidc", 15, "off loopback"],
  ["link", 600, "on loopback"],
] as const)("a sign-in by %s %s minutes ago to a console %s is recent", (way, minutes, where) => {
  expect(isRecent(way, minutes, where)).toBe(true);
});

test.each([
  ["oidc", 15.01, "off loopback"],
  ["oidc", 15.01, "on loopback"],
  ["link", 15.01, "off loopback"],
] as const)("a sign-in by %s %s minutes ago to a console %s is not recent", (way, minutes, where) => {
  expect(isRecent(way, minutes, where)).toBe(false);
});
