import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import type { RingStorage } from "../../domain/update-ring.ts";
import { requireOperator, verified } from "./change-ring.ts";
import { listKeyToProto, ringKeyToProto } from "./ring-key-message.ts";

export interface ListRingDeps {
  rings: Pick<RingStorage, "read">;
}

export function listRing({ rings }: ListRingDeps): MethodImpl<typeof KeyAdminService.method.listRing> {
  return async (_, context) => {
    requireOperator(context);
    const ring = await verified(() => rings.read());
    if (!ring) return { keys: [], revision: 0n };
    const { keys, revision, listKey } = ring;
    return { keys: keys.map(ringKeyToProto), revision: BigInt(revision), listKey: listKeyToProto(listKey) };
  };
}
