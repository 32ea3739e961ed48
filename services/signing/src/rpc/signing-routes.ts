import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { type MeshRoute, meshRoute, route } from "@vidimus/kit/rpc/doors/shared/route";
import { listKeys, type ListKeysDeps } from "./list-keys.ts";
import { signSnapshots, type SignSnapshotsDeps } from "./sign-snapshots.ts";

export function signingRoutes(deps: SignSnapshotsDeps & ListKeysDeps): MeshRoute[] {
  return [
    meshRoute(route(SigningService, { signSnapshots: signSnapshots(deps) }), { signSnapshots: ["delivery"] }),
    meshRoute(route(TrustListService, { listKeys: listKeys(deps) }), { listKeys: ["gateway", "delivery"] }),
  ];
}
