import type { MethodImpl } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { DomainError } from "@vidimus/kit/errors";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { fromReferences, fromSignature } from "./messages.ts";

const attachmentsMax = 256;

/** The store of snapshots. */
interface AttachSignaturesDeps {
  snapshots: Pick<SnapshotStore, "attachSignatures">;
}

/** Keeps signatures beside their snapshots. */
export function attachSignatures(
  deps: AttachSignaturesDeps,
): MethodImpl<typeof SnapshotFeedService.method.attachSignatures> {
  return async ({ attachments }) => {
    const keys = fromReferences(
      attachments.map(({ reference }) => reference),
      attachmentsMax,
    );
    const signed = keys.map(({ tenantId, documentId, sequence }, index) => {
      return { tenantId, documentId, sequence, signature: fromSignature(attachments[index]?.signature) };
    });
    const missing = await deps.snapshots.attachSignatures(signed);
    if (missing > 0) throw new DomainError("not_found", `${missing} of these snapshots do not exist`);
    return {};
  };
}
