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
  return { _id: uuidv7(), at, actor: by.actor, role: by.role, requestId: by.requestId, action, ...subject };
}
