import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";

/** Registers services: Connect's router, or the router of the mesh door. */
export interface ServiceRegistry {
  /** Methods without an implementation answer Unimplemented. */
  service<S extends DescService>(service: S, implementation: Partial<ServiceImpl<S>>): unknown;
}

/** Names of methods as in code, for example `listPhrases`. */
type MethodNames<S extends DescService> = keyof S["method"] & string;

/** A service with its implementation, made by `route` or `partialRoute`. Both doors take it. */
export interface RpcRoute<S extends DescService = DescService, M extends string = string> {
  readonly service: S;
  readonly methods: readonly M[];
  register(registry: ServiceRegistry): void;
}

export interface MeshRoute extends RpcRoute {
  /** Names of the services that may call a method, for example `delivery`. */
  readonly callers: ReadonlyMap<DescMethod, readonly string[]>;
}

/**
 * What a method of a teams door does:
 *
 * - `read`: it changes nothing of the tenant that its request names;
 * - `write`: it changes something; a door with a `TenantCheck` refuses it for a disabled tenant;
 * - `platform`: it concerns all tenants, and needs a grant for all of them;
 * - `tenantless`: it concerns no tenant, so that any grant of the method is enough.
 */
export type Effect = "read" | "write" | "platform" | "tenantless";

export interface TeamsRoute extends RpcRoute {
  readonly effects: ReadonlyMap<DescMethod, Effect>;
}

export function route<S extends DescService>(service: S, implementation: ServiceImpl<S>): RpcRoute<S, MethodNames<S>> {
  return bind<S, MethodNames<S>>(service, implementation);
}

/** Binds some methods of a service. A door with a certificate refuses the others. */
export function partialRoute<S extends DescService, I extends Partial<ServiceImpl<S>>>(
  service: S,
  methods: I,
): RpcRoute<S, keyof I & MethodNames<S>> {
  return bind<S, keyof I & MethodNames<S>>(service, methods);
}

function bind<S extends DescService, M extends MethodNames<S>>(
  service: S,
  implementation: Partial<ServiceImpl<S>>,
): RpcRoute<S, M> {
  const methods = service.methods.map(({ localName }) => localName).filter((name) => name in implementation);
  return {
    service,
    methods: methods.filter((name): name is M => name in service.method),
    register: (registry) => void registry.service(service, implementation),
  };
}

/**
 * Adds to a route, for each method, the services that may call it at the mesh door. The compiler
 * demands a row for every method, because a method without one would be refused to all.
 */
export function meshRoute<S extends DescService, M extends string>(
  route: RpcRoute<S, M>,
  callers: Readonly<Record<M, readonly string[]>>,
): MeshRoute {
  return { ...route, callers: byMethod(route, callers) };
}

export function teamsRoute<S extends DescService, M extends string>(
  route: RpcRoute<S, M>,
  effects: Readonly<Record<M, Effect>>,
): TeamsRoute {
  return { ...route, effects: byMethod(route, effects) };
}

function byMethod<S extends DescService, M extends string, T>(
  { service, methods }: RpcRoute<S, M>,
  rows: Readonly<Record<M, T>>,
): ReadonlyMap<DescMethod, T> {
  const described = new Map(service.methods.map((method) => [method.localName, method]));
  return new Map(
    methods.flatMap((name) => {
      const method = described.get(name);
      return method ? [[method, rows[name]] as const] : [];
    }),
  );
}
