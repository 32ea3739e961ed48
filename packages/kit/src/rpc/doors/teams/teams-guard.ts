import type { DescMethod } from "@bufbuild/protobuf";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { DomainError } from "../../../errors.ts";
import { allTenants, type Grant, type Grants, mayCall, mayNameTenant } from "./grants.ts";
import { claimsToBePerson } from "../../context/person.ts";
import type { CallContext } from "../../context/call-context.ts";
import type { Refusal, ReportRefusal } from "../shared/refusals.ts";
import { fieldReaders } from "../../wire/field-readers.ts";
import type { Effect, RpcRoute, TeamsRoute } from "../shared/route.ts";

interface Caller extends Pick<CallContext, "identity" | "actor" | "role"> {
  /** `address:port` */
  readonly peer: string;
}

export interface TenantCheck {
  /**
   * Resolves when the tenant may be read, or written.
   *
   * @throws DomainError `not_found` for an unknown tenant, `failed_precondition` for a write of a
   * disabled one, `unavailable` when it is not known whether the tenant exists
   */
  require(tenantId: string, effect: "read" | "write"): Promise<void>;
}

export interface TeamsGuard {
  /**
   * Checks identity, method, actor and role of a call.
   *
   * @returns a check of the tenants that a request message names, to be run for each message; it
   * throws `permission_denied` for a tenant outside of the grant, and what `TenantCheck` throws
   * @throws DomainError `permission_denied` when the grant does not allow the call; every
   * `permission_denied` is logged and counted
   */
  admit(method: DescMethod, caller: Caller): (request: unknown) => Promise<void> | void;
}

interface TeamsGuardOptions {
  readonly routes: readonly (RpcRoute | TeamsRoute)[];
  /** Undefined on a plaintext door, where every caller may do everything. */
  readonly grants: (() => Grants) | undefined;
  /** Undefined to accept every tenant, for example in the service that keeps the tenants. */
  readonly tenants: TenantCheck | undefined;
  readonly report: ReportRefusal;
}

/**
 * Open to every identity, because they show the state and the methods of the service and no data.
 */
const openServices = new Set<string>([Health.typeName, ServerReflection.typeName]);
const pass = () => {};
/** Requests name their tenants in fields called `tenant_id`. */
const tenantReader = fieldReaders("tenantId");

/** Where there are grants, a method for which no route names an effect is refused. */
export function teamsGuard({ routes, grants, tenants, report }: TeamsGuardOptions): TeamsGuard {
  const effects = new Map<DescMethod, Effect>();
  for (const route of routes) if ("effects" in route) for (const row of route.effects) effects.set(...row);
  return {
    admit(method, caller) {
      if (openServices.has(method.parent.typeName)) return pass;
      const effect = effects.get(method);
      const refuse = refusing(method, caller, report);
      const grant = grants && requireGrant(grants(), method, effect, caller, refuse);
      if (effect === undefined || effect === "platform" || effect === "tenantless") return pass;
      return checkTenants(tenantReader(method.input), { effect, grant, tenants, refuse });
    },
  };
}

type Refuse = (reason: Refusal["reason"], why: string) => never;

function refusing(method: DescMethod, { identity, peer }: Caller, report: ReportRefusal): Refuse {
  const name = `${method.parent.typeName}/${method.name}`;
  return (reason, why) => {
    report({ reason, who: identity, peer, what: `${name}: ${why}` });
    throw new DomainError("permission_denied", `${identity} may not call ${name}: ${why}`);
  };
}

function requireGrant(
  grants: Grants,
  method: DescMethod,
  effect: Effect | undefined,
  { identity, actor, role }: Caller,
  refuse: Refuse,
): Grant {
  const grant = grants.get(identity) ?? refuse("service", "it has no grant");
  if (!mayCall(grant, method)) refuse("service", "its grant includes neither the service nor the method");
  if (effect === undefined) refuse("service", "the method is not open to teams");
  // The actor is checked before the role: a caller that signs nobody in cannot know a person's
  // role, so the actor is the fault to name.
  if (claimsToBePerson(actor) && !grant.people) refuse("actor", `its grant does not let it act as "${actor}"`);
  if (role !== "" && !grant.roles.has(role)) refuse("role", `its grant does not include the role "${role}"`);
  if (effect === "platform" && !grant.tenants.has(allTenants)) {
    refuse("tenant", "the method needs a grant for all tenants");
  }
  return grant;
}

interface TenantChecks extends Pick<TeamsGuardOptions, "tenants"> {
  readonly effect: "read" | "write";
  readonly grant: Grant | undefined;
  readonly refuse: Refuse;
}

function checkTenants(
  read: ReturnType<typeof tenantReader>,
  { effect, grant, tenants, refuse }: TenantChecks,
): (request: unknown) => Promise<void> | void {
  return (request) => {
    if (!read) return grant ? refuse("tenant", "its requests name no tenant") : undefined;
    const named = new Set(read(request));
    for (const tenantId of named) {
      if (grant && !mayNameTenant(grant, tenantId)) {
        refuse("tenant", `its grant does not include the tenant "${tenantId}"`);
      }
    }
    if (tenants && named.size > 0) return requireAll(tenants, named, effect);
    return undefined;
  };
}

async function requireAll(tenants: TenantCheck, named: ReadonlySet<string>, effect: "read" | "write"): Promise<void> {
  for (const tenantId of named) await tenants.require(tenantId, effect);
}
