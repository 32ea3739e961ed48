import type { AuditAuthor, AuditedChange } from "@vidimus/tenancy/audit/audit-entry";

/** The entry of the audit log that is stored with a changed ring. */
export interface RingEntry {
  readonly by: AuditAuthor;
  readonly change: AuditedChange;
}
