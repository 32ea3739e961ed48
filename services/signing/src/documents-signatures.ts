import type { Client } from "@connectrpc/connect";
import type {
  HeldSignature as HeldSignatureMessage,
  SignatureAuditService,
} from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import type { HeldSignature, HeldSignatures } from "./domain/compare-signatures.ts";
import { snapshotKeyOf } from "./domain/ledger.ts";

/** The signatures that documents holds, read at its mesh door. */
export function documentsSignatures(client: Client<typeof SignatureAuditService>): HeldSignatures {
  return {
    async *pages(signal) {
      let pageToken = "";
      do {
        const page = await client.listSignatures({ pageToken }, { signal });
        yield page.signatures.map(fromProto);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
    },
    async get(snapshotKeys, signal) {
      const references = snapshotKeys.map((key) => {
        const [tenantId = "", documentId = "", sequence = ""] = key.split("/");
        return { tenantId, documentId, sequence: BigInt(sequence) };
      });
      const { signatures } = await client.getSignatures({ references }, { signal });
      return signatures.map(fromProto);
    },
  };
}

function fromProto({ reference, signature }: HeldSignatureMessage): HeldSignature {
  if (!reference) throw new TypeError("documents sent a signature without a reference");
  const { tenantId, documentId, sequence } = reference;
  return { snapshotKey: snapshotKeyOf({ tenantId, documentId, sequence: Number(sequence) }), signature };
}
