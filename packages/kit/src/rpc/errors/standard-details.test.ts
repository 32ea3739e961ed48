import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "@vidimus/contracts/google/rpc/error_details";
import { expect, test } from "vitest";
import { DomainError } from "../../errors.ts";
import { toConnectError } from "./error-table.ts";

test("an error carries its reason, metadata and violations as details of google.rpc", () => {
  const error = toConnectError(
    new DomainError("failed_precondition", "four eyes", {
      reason: "guard_failed",
      metadata: { guard: "fourEyes" },
      violations: [{ pointer: "/meta/slug", message: "is required" }],
    }),
  );
  expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
    { reason: "GUARD_FAILED", domain: "vidimus", metadata: { guard: "fourEyes" } },
  ]);
  expect(error.findDetails(BadRequestSchema)).toMatchObject([
    { fieldViolations: [{ field: "/meta/slug", description: "is required" }] },
  ]);
  expect(error.findDetails(RetryInfoSchema)).toEqual([]);
});

test.each(["unavailable", "exhausted"] as const)("an error of kind `%s` carries a RetryInfo of 1 s", (kind) => {
  const error = toConnectError(new DomainError(kind, "later"));
  expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 1n, nanos: 0 } }]);
  expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: kind.toUpperCase() }]);
  expect(error.findDetails(BadRequestSchema)).toEqual([]);
});
