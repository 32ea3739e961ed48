import { expect, it } from "vitest";
import { parseStatement } from "./statement.ts";

const statementAt = (time: string) =>
  [
    "vidimus-snapshot-v1",
    "acme",
    "7b0f6e3c-1b7f-4f42-9b1e-2f6f0a3d5c77",
    "12",
    "7",
    "usable",
    time,
    `ed25519-${"A".repeat(16)}`,
    "0".repeat(64),
  ].join("\n");

it.each(["2026-02-30T09:30:00.000Z", "2026-11-21T09:60:00.000Z", "2026-11-21T24:00:00.000Z"])(
  "a statement of %s is refused, because there is no such time",
  (time) => {
    expect(() => parseStatement(statementAt(time))).toThrow("does not exist");
  },
);

it("a statement's sequence, version and time are read", () => {
  const signedAt = "2026-02-28T23:59:59.999Z";
  expect(parseStatement(statementAt(signedAt))).toMatchObject({
    sequence: 12,
    version: 7,
    signedAt: new Date(signedAt),
  });
});
