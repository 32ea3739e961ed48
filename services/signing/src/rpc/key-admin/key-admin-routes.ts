import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { route, type TeamsRoute, teamsRoute } from "@vidimus/kit/rpc/route";
import { activateKey } from "./activate-key.ts";
import { auditLedger, type AuditLedgerDeps } from "./audit-ledger.ts";
import { listRing, type ListRingDeps } from "./list-ring.ts";
import { prepareKey } from "./prepare-key.ts";
import { retireKey } from "./retire-key.ts";
import { revokeKey } from "./revoke-key.ts";
import type { ChangeRingDeps } from "./change-ring.ts";

/** What the admin door serves. */
export function keyAdminRoutes(deps: ListRingDeps & ChangeRingDeps & AuditLedgerDeps): TeamsRoute[] {
  const methods = route(KeyAdminService, {
    listRing: listRing(deps),
    prepareKey: prepareKey(deps),
    activateKey: activateKey(deps),
    retireKey: retireKey(deps),
    revokeKey: revokeKey(deps),
    auditLedger: auditLedger(deps),
  });
  const effects = {
    listRing: "platform",
    prepareKey: "platform",
    activateKey: "platform",
    retireKey: "platform",
    revokeKey: "platform",
    auditLedger: "platform",
  } as const;
  return [teamsRoute(methods, effects)];
}
