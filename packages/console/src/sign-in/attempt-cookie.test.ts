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

test.each(["x", "é", "\\", "\u{10FFFD}"])(
  "an attempt whose return path has many %j is read with this path, or with / for one too long",
  (letter) => {
    for (let length = 0; length < 3_000; length += 50) {
      const path = returnPath(`/?q=${letter.repeat(length)}`, new URL("https://console.example"));
      expect([path, "/"]).toContain(kept(path)?.returnTo);
    }
    expect(kept(`/?q=${letter.repeat(3_000)}`)?.returnTo).toBe("/");
  },
);
