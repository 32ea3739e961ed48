import { Code } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { expect, test } from "vitest";
import { DomainError } from "./errors.ts";
import { toConnectError } from "./rpc/errors/error-table.ts";

test("half a surrogate pair in a DomainError's message or violation becomes U+FFFD, which gRPC can send", () => {
  const half = "not a tag: \ud83d";
  const violations = [{ pointer: "/\ude00", message: half }];
  const error = new DomainError("invalid", half, { violations });
  expect(error.message).toBe("not a tag: \ufffd");
  expect(error.violations).toEqual([{ pointer: "/\ufffd", message: "not a tag: \ufffd" }]);
  const trailer = new Headers();
  setTrailerStatus(trailer, toConnectError(error));
  expect(trailer.get("grpc-status")).toBe(String(Code.InvalidArgument));
});
