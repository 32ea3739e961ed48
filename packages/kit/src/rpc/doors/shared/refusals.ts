import type { Logger } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";

/**
 * Why a door refused:
 *
 * - `handshake`: TLS failed, for example without a certificate or with an expired one;
 * - `identity`: the connection is not known, or its certificate does not name exactly one identity
 *   or has expired since the handshake;
 * - `method`: the identity may not call the method (mesh door);
 * - `service`: the identity has no grant, its grant does not include the service or the method, or
 *   the method is not open to teams (teams door);
 * - `tenant`: its grant does not include a tenant that the request names, or all tenants where the
 *   method needs that, or the method's requests name no tenant (teams door);
 * - `role`: its grant does not include the role (teams door);
 * - `actor`: the identity acts as a person, and its grant does not say that it may (teams door).
 */
type RefusalReason = "handshake" | "identity" | "method" | "service" | "tenant" | "role" | "actor";

export interface Refusal {
  readonly reason: RefusalReason;
  /** The caller's identity; `nobody` when it has none. */
  readonly who: string;
  /** Address and port of the caller. */
  readonly peer: string;
  /** Called method, with the cause unless `reason` is `method`; for `handshake` the TLS error. */
  readonly what: string;
}

export type ReportRefusal = (refusal: Refusal) => void;

export function refusalReport(door: "mesh" | "teams", log: Logger, metrics: Metrics): ReportRefusal {
  return ({ reason, who, peer, what }) => {
    metrics.callsRefused.inc({ door, reason });
    log.warn({ door, reason, who, peer, what }, "caller refused");
  };
}
