import { type AnyBulkWriteOperation, Binary } from "mongodb";
import type { SnapshotKey, SnapshotSettlement, SnapshotSignature } from "../domain/snapshots/snapshot-feed.ts";
import type { SnapshotRow } from "./rows.ts";
import { groupSnapshots, type SnapshotGroup } from "./snapshot-groups.ts";

type Signed = SnapshotKey & { readonly signature: SnapshotSignature };
type Unsendable = SnapshotKey & { readonly unsendable: string };

/**
 * The updates that settle snapshots, and the number of rows that they match when all snapshots
 * exist.
 */
export function settlementOperations(settlements: readonly SnapshotSettlement[]): {
  operations: AnyBulkWriteOperation<SnapshotRow>[];
  count: number;
} {
  const signed = groupSnapshots(settlements.filter((each): each is Signed => "signature" in each));
  const unsendable = groupSnapshots(settlements.filter((each): each is Unsendable => "unsendable" in each));
  const operations = [
    ...signed.map(({ filter, members }) => {
      const signatures = members.map(({ signature: { keyId, statement, value, signingNumber } }) => {
        return { keyId, statement, value: new Binary(value), signingNumber };
      });
      return { updateMany: { filter, update: keepSignature(ofDocument(filter, signatures)) } };
    }),
    ...unsendable.map(({ filter, members }) => {
      const reasons = members.map((member) => member.unsendable);
      return { updateMany: { filter, update: keepReason(ofDocument(filter, reasons)) } };
    }),
  ];
  return { operations, count: [...signed, ...unsendable].reduce((sum, { members }) => sum + members.length, 0) };
}

/**
 * An aggregation expression: the one of `values` that belongs to the row's document. `values` are
 * in the order of the filter's documents.
 */
function ofDocument({ documentId }: SnapshotGroup<SnapshotKey>["filter"], values: readonly unknown[]) {
  const position = { $indexOfArray: [{ $literal: documentId.$in }, "$documentId"] };
  return { $arrayElemAt: [{ $literal: values }, position] };
}

/**
 * A stored signature is replaced only by one with a higher signing number: calls can arrive out of
 * order, and a snapshot that was signed again after a revocation must keep the new signature. Times
 * of signing are not compared, because a revoked key may have signed while signing's clock was
 * ahead.
 */
function keepSignature(next: object) {
  // MongoDB orders a missing value below any number, so a first signature counts as newer.
  const isNewer = { $gt: ["$$next.signingNumber", "$signature.signingNumber"] };
  const kept = { $cond: [isNewer, "$$next", "$signature"] };
  return [{ $set: { signature: { $let: { vars: { next }, in: kept } } } }, { $unset: ["pending", "unsendable"] }];
}

/** A row that is already settled stays as it is. */
function keepReason(reason: object) {
  const isPending = { $eq: ["$pending", true] };
  return [{ $set: { unsendable: { $cond: [isPending, reason, "$unsendable"] } } }, { $unset: ["pending"] }];
}
