import { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { type MeshRoute, meshRoute, route } from "@vidimus/kit/rpc/doors/shared/route";
import type { SignatureStore } from "../../store/signature-store.ts";
import { getSignatures } from "./get-signatures.ts";
import { listSignatures } from "./list-signatures.ts";

export function signatureAuditRoute(deps: { signatures: SignatureStore }): MeshRoute {
  const methods = route(SignatureAuditService, {
    listSignatures: listSignatures(deps),
    getSignatures: getSignatures(deps),
  });
  return meshRoute(methods, { listSignatures: ["signing", "delivery"], getSignatures: ["signing", "delivery"] });
}
