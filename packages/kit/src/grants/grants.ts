/** What one identity may do at the teams doors. */
export interface Grant {
  readonly identity: string;
  /** Tenants it may name; "*" stands for all, also those to come. */
  readonly tenants: ReadonlySet<string>;
  /** Full names of services, for example `vidimus.documents.v1.DocumentService`. */
  readonly services: ReadonlySet<string>;
  /** Roles it may speak for. */
  readonly roles: ReadonlySet<string>;
}

/** Grants by identity. */
export type Grants = ReadonlyMap<string, Grant>;

/** Stands for all tenants. */
export const allTenants = "*";

/** Whether a grant includes a tenant. */
export function mayNameTenant({ tenants }: Grant, tenantId: string): boolean {
  return tenants.has(allTenants) || tenants.has(tenantId);
}
