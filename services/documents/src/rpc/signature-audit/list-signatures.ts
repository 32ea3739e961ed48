import type { MethodImpl } from "@connectrpc/connect";
import type { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { decodeSignatureToken, encodeSignatureToken } from "../../domain/snapshots/signature-token.ts";
import type { SignatureStore } from "../../store/signature-store.ts";
import { type PageSizeRule, pageSize } from "../requests.ts";
import { heldSignatureToProto } from "./held-signature-message.ts";

const pages: PageSizeRule = { max: 1_000, fallback: 500 };

interface ListSignaturesDeps {
  signatures: Pick<SignatureStore, "list">;
}

export function listSignatures({
  signatures,
}: ListSignaturesDeps): MethodImpl<typeof SignatureAuditService.method.listSignatures> {
  return async (request, { signal }) => {
    const limit = pageSize(request.limit, pages);
    const after = decodeSignatureToken(request.pageToken);
    const held = await signatures.list({ limit, ...(after && { after }) }, signal);
    const last = held.at(-1);
    return {
      signatures: held.map(heldSignatureToProto),
      nextPageToken: last && held.length === limit ? encodeSignatureToken(last) : "",
    };
  };
}
