import type { DescMethod } from "@bufbuild/protobuf";

/** What one identity may do at the teams doors. */
export interface Grant {
  readonly identity: string;
  /** Tenants that it may name; "*" stands for all, including future ones. */
  readonly tenants: ReadonlySet<string>;
  /** Full names of services, for example `vidimus.documents.v1.DocumentService`. */
  readonly services: ReadonlySet<string>;
  /**
   * Full names of single methods, granted beside `services`, for example
   * `vidimus.access.v1.MemberService/ListMembers`.
   */
  readonly methods: ReadonlySet<string>;
  /** Roles that it may assert. */
  readonly roles: ReadonlySet<string>;
  /** Whether it signs people in and may therefore name a person as actor. */
  readonly people: boolean;
}

export type Grants = ReadonlyMap<string, Grant>;

export const allTenants = "*";

export function mayNameTenant({ tenants }: Grant, tenantId: string): boolean {
  return tenants.has(allTenants) || tenants.has(tenantId);
}

export function mayCall({ services, methods }: Grant, { parent, name }: DescMethod): boolean {
  return services.has(parent.typeName) || methods.has(`${parent.typeName}/${name}`);
}
