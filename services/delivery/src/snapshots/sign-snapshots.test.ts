import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { SignSnapshotsResponseSchema } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { expect, test } from "vitest";
import type { FeedSnapshot } from "../domain/payload.ts";
import { signSnapshots } from "./sign-snapshots.ts";

const bytes = Buffer.from("{}");

function snapshotOf(documentId: string, sha256 = Buffer.alloc(32)): FeedSnapshot {
  const names = { tenantId: "acme", documentId, sequence: 1, documentType: "core/article", version: 1 };
  const sealed = { bytes, sha256, attestation: bytes, isSound: true, traceparent: undefined };
  return { ...names, status: "usable", committedAt: new Date(), isPending: true, olderPending: [], ...sealed };
}

/** Refuses every batch with a digest that does not have 32 bytes, as the signing service does. */
const signing: Parameters<typeof signSnapshots>[0]["signing"] = {
  signSnapshots: async ({ items = [] }) => {
    if (items.some(({ sha256 }) => sha256?.length !== 32)) {
      throw new ConnectError("items[0].sha256 must have 32 bytes", Code.InvalidArgument);
    }
    const value = { keyId: "k", statement: "s", value: Buffer.alloc(64), signingNumber: 1 };
    const results = items.map(() => ({ outcome: { case: "signature" as const, value } }));
    return create(SignSnapshotsResponseSchema, { results });
  },
};

test("a malformed digest makes its own snapshot unsendable, and no other one of its batch", async () => {
  const snapshots = [snapshotOf("a"), snapshotOf("b", Buffer.alloc(5)), snapshotOf("c")];
  const results = await signSnapshots({ signing }, snapshots, new AbortController().signal);
  expect(results.map((each) => ("unsendable" in each ? each.unsendable : "signature" in each))).toEqual([
    true,
    "refused_by_signing",
    true,
  ]);
});

test("while signing cannot be used, nothing is unsendable: the batch fails as a whole", async () => {
  const off = { signSnapshots: () => Promise.reject(new ConnectError("no key", Code.FailedPrecondition)) };
  const signed = signSnapshots({ signing: off }, [snapshotOf("a"), snapshotOf("b")], new AbortController().signal);
  await expect(signed).rejects.toThrow("no key");
});
