import type { DescMethod } from "@bufbuild/protobuf";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { DomainError } from "../errors.ts";
import { serviceIdentity } from "../tls/peer-identity.ts";
import type { ConnectionPeers } from "./connection-peers.ts";
import type { ReportRefusal } from "./refusals.ts";
import type { MeshRoute, RpcRoute } from "./route.ts";

/** Decides who may call a method of the mesh door. */
export interface MeshGuard {
  /**
   * Returns the identity of the caller.
   *
   * @param peer `address:port` of the caller
   * @throws DomainError `unauthenticated` or `permission_denied`; the refusal is logged and counted
   */
  admit(method: DescMethod, peer: string): string;
}

interface MeshGuardOptions {
  readonly routes: readonly (RpcRoute | MeshRoute)[];
  readonly peers: Pick<ConnectionPeers, "identityOf">;
  /** Of this process: its services are `spiffe://<trust domain>/<name>`. */
  readonly trustDomain: string;
  readonly report: ReportRefusal;
}

/**
 * Makes the guard from the callers of the routes. What has no row is refused. Health is for
 * everybody with an identity: probes of meshes and `vidimus doctor` ask for it.
 */
export function meshGuard({ routes, peers, trustDomain, report }: MeshGuardOptions): MeshGuard {
  const allowed = new Map<DescMethod, ReadonlySet<string>>();
  for (const route of routes) {
    if (!("callers" in route)) continue;
    for (const [method, services] of route.callers) {
      allowed.set(method, new Set(services.map((service) => serviceIdentity(trustDomain, service))));
    }
  }
  return {
    admit(method, peer) {
      const name = `${method.parent.typeName}/${method.name}`;
      const who = peers.identityOf(peer, name);
      if (method.parent.typeName === Health.typeName || allowed.get(method)?.has(who)) return who;
      report({ reason: "method", who, peer, what: name });
      throw new DomainError("permission_denied", `${who} may not call ${name}`);
    },
  };
}
