import type { DescMethod } from "@bufbuild/protobuf";

/** What one identity may do at the teams doors. */
export interface Grant {
  readonly identity: string;
  /** Tenants it may name; "*" stands for all, also those to come. */
  readonly tenants: ReadonlySet<string>;
  /** Full names of services, for example `vidimus.documents.v1.DocumentService`. */
  readonly services: ReadonlySet<string>;
  /**
   * Full names of methods of other services, for example
   * `vidimus.access.v1.MemberService/ListMembers`.
   */
  readonly methods: ReadonlySet<string>;
  /** Roles it may speak for. */
  readonly roles: ReadonlySet<string>;
  /** Whether it signs people in, and is believed whose actor it names. */
  readonly people: boolean;
}

/** Grants by identity. */
export type Grants = ReadonlyMap<string, Grant>;

/** Stands for all tenants. */
export const allTenants = "*";

/** Whether a grant includes a tenant. */
export function mayNameTenant({ tenants }: Grant, tenantId: string): boolean {
  return tenants.has(allTenants) || tenants.has(tenantId);
}

/** Whether a grant includes a method. */
export function mayCall({ services, methods }: Grant, { parent, name }: DescMethod): boolean {
  return services.has(parent.typeName) || methods.has(`${parent.typeName}/${name}`);
}
