import type { MethodImpl } from "@connectrpc/connect";
import type { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import type { SignatureStore } from "../../store/signature-store.ts";
import { fromReferences } from "../snapshot-feed/messages.ts";
import { heldSignatureToProto } from "./held-signature-message.ts";

const referencesMax = 256;

interface GetSignaturesDeps {
  signatures: Pick<SignatureStore, "find">;
}

export function getSignatures({
  signatures,
}: GetSignaturesDeps): MethodImpl<typeof SignatureAuditService.method.getSignatures> {
  return async ({ references }, { signal }) => {
    const held = await signatures.find(fromReferences(references, referencesMax), signal);
    return { signatures: held.map(heldSignatureToProto) };
  };
}
