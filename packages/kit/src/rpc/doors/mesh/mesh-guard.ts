import type { DescMethod } from "@bufbuild/protobuf";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { DomainError } from "../../../errors.ts";
import type { ConnectionPeers } from "../shared/connection-peers.ts";
import type { ReportRefusal } from "../shared/refusals.ts";
import type { MeshRoute, RpcRoute } from "../shared/route.ts";

export interface MeshGuard {
  /**
   * Returns the identity of the caller.
   *
   * @param peer `address:port` of the caller
   * @throws DomainError `unauthenticated` when the connection proves no identity,
   * `permission_denied` when the identity may not call the method; the refusal is logged and
   * counted
   */
  admit(method: DescMethod, peer: string): string;
}

interface MeshGuardOptions {
  readonly routes: readonly (RpcRoute | MeshRoute)[];
  readonly peers: Pick<ConnectionPeers, "identityOf">;
  /** The identity of a service of this process's trust domain. */
  readonly identityOfService: (service: string) => string;
  readonly report: ReportRefusal;
}

/**
 * A method for which no route names callers is refused. Health is open to every identity, because
 * probes of service meshes and `vidimus doctor` call it.
 */
export function meshGuard({ routes, peers, identityOfService, report }: MeshGuardOptions): MeshGuard {
  const allowed = new Map<DescMethod, ReadonlySet<string>>();
  for (const route of routes) {
    if (!("callers" in route)) continue;
    for (const [method, services] of route.callers) {
      allowed.set(method, new Set(services.map(identityOfService)));
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
