import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/server";
import { listKeys, type ListKeysDeps } from "./list-keys.ts";
import { signSnapshots, type SignSnapshotsDeps } from "./sign-snapshots.ts";

/** The services that signing serves. */
export function signingRoutes(deps: SignSnapshotsDeps & ListKeysDeps): RpcRoute[] {
  return [
    route(SigningService, { signSnapshots: signSnapshots(deps) }),
    route(TrustListService, { listKeys: listKeys(deps) }),
  ];
}
