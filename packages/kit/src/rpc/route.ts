import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";

/** Registers services: Connect's router, or the router of the mesh door. */
export interface ServiceRegistry {
  /** Registers a service. Methods without an implementation answer Unimplemented. */
  service<S extends DescService>(service: S, implementation: Partial<ServiceImpl<S>>): unknown;
}

/** A service with its implementation, made by `route`. Both doors take it. */
export interface RpcRoute {
  readonly service: DescService;
  register(registry: ServiceRegistry): void;
}

/** Binds an implementation to its service. */
export function route<S extends DescService>(service: S, implementation: ServiceImpl<S>): RpcRoute {
  return partialRoute(service, implementation);
}

/** Binds some methods of a service; the others answer Unimplemented. */
export function partialRoute<S extends DescService>(service: S, methods: Partial<ServiceImpl<S>>): RpcRoute {
  return { service, register: (registry) => void registry.service(service, methods) };
}
