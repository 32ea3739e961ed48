import { uuidv7 } from "@vidimus/kit/ids";
import type { Actor } from "../access/access-rules.ts";
import type { AuditRow } from "./rows.ts";

/** The audit row of a change of a tenant or a key. */
export function auditRow(
  by: Actor,
  at: Date,
  action: string,
  subject: Pick<AuditRow, "tenantId" | "keyId" | "detail">,
): AuditRow {
  const { actor, role, identity, requestId } = by;
  return { _id: uuidv7(), at, actor, role, ...(identity !== "" && { identity }), requestId, action, ...subject };
}
