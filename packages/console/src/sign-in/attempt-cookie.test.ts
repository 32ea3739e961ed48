import { expect, test } from "vitest";
import { returnPath } from "../http/return-path.ts";
import { attemptCookie, readAttempt } from "./attempt-cookie.ts";

const attemptTo = (returnTo: string) => ({
  state: "s".repeat(43),
  nonce: "n".repeat(43),
  verifier: "v".repeat(43),
  maxAge: 900,
  returnTo,
});
const kept = (returnTo: string) => readAttempt(attemptCookie(attemptTo(returnTo)).value ?? "");

test("an attempt is read from its cookie as it was written", () => {
  const attempt = attemptTo(`/t/demo/audit?${"x".repeat(1_400)}`);
  expect(readAttempt(attemptCookie(attempt).value ?? "")).toEqual(attempt);
});

test.each([
  ["Latin letters", "x"],
  ["accented letters", "é"],
  ["backslashes", "\\"],
  ["characters of four bytes", "\u{10FFFD}"],
])("an attempt's cookie keeps a return path of %s whole, or / if it is too long", (_, letter) => {
  const pathOf = (length: number) => returnPath(`/?q=${letter.repeat(length)}`, new URL("https://console.example"));
  expect(kept(pathOf(50))?.returnTo).toBe(pathOf(50));
  for (let length = 100; length < 3_000; length += 50) {
    expect([pathOf(length), "/"]).toContain(kept(pathOf(length))?.returnTo);
  }
  expect(kept(pathOf(3_000))?.returnTo).toBe("/");
});
