import { uuidv7 } from "@vidimus/kit/uuid";
import type { Actor } from "../domain/access-rules.ts";
import type { AuditRow } from "./rows.ts";

/** Who did what to a tenant or a key. */
export function auditRow(
  by: Actor,
  at: Date,
  action: string,
  subject: Pick<AuditRow, "tenantId" | "keyId" | "detail">,
): AuditRow {
  return { _id: uuidv7(), at, actor: by.actor, role: by.role, requestId: by.requestId, action, ...subject };
}
