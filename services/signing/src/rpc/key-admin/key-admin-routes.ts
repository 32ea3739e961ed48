import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { listAuditEntries, type ListAuditEntriesDeps } from "@vidimus/tenancy/audit/list-audit-entries";
import { route, type TeamsRoute, teamsRoute } from "@vidimus/kit/rpc/doors/shared/route";
import { activateKey } from "./activate-key.ts";
import { auditLedger, type AuditLedgerDeps } from "./audit-ledger.ts";
import { installDelegation } from "./install-delegation.ts";
import { listRing, type ListRingDeps } from "./list-ring.ts";
import { prepareKey } from "./prepare-key.ts";
import { rewrapKeys, type RewrapKeysDeps } from "./rewrap-keys.ts";
import { retireKey } from "./retire-key.ts";
import { revokeKey } from "./revoke-key.ts";
import type { ChangeRingDeps } from "./change-ring.ts";

export type KeyAdminDeps = ListRingDeps & ChangeRingDeps & AuditLedgerDeps & RewrapKeysDeps & ListAuditEntriesDeps;

export function keyAdminRoutes(deps: KeyAdminDeps): TeamsRoute[] {
  const methods = route(KeyAdminService, {
    listRing: listRing(deps),
    prepareKey: prepareKey(deps),
    activateKey: activateKey(deps),
    retireKey: retireKey(deps),
    revokeKey: revokeKey(deps),
    auditLedger: auditLedger(deps),
    rewrapKeys: rewrapKeys(deps),
    listAuditEntries: listAuditEntries(deps),
    installDelegation: installDelegation(deps),
  });
  const effects = {
    listRing: "platform",
    prepareKey: "platform",
    activateKey: "platform",
    retireKey: "platform",
    revokeKey: "platform",
    auditLedger: "platform",
    rewrapKeys: "platform",
    listAuditEntries: "platform",
    installDelegation: "platform",
  } as const;
  return [teamsRoute(methods, effects)];
}
