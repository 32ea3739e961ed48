import type { Logger } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import type { Tracing } from "../../../telemetry/tracing/tracing.ts";
import type { Readiness } from "../../../readiness.ts";
import type { CertificateSource } from "../../../tls/service-credentials.ts";
import type { RpcRoute } from "./route.ts";

export interface RpcServerOptions {
  routes: readonly RpcRoute[];
  /** Address to bind; without a certificate it must be a loopback address. */
  host: string;
  /** 0 chooses a free port. */
  port: number;
  readiness: Readiness;
  log: Logger;
  metrics: Metrics;
  /** Undefined while tracing is off. */
  tracing?: Tracing | undefined;
  /**
   * Certificate of this process. With it a door demands client certificates, and refuses methods
   * that its routes or grants do not open to the caller. Without it the door is plaintext, and
   * every process of the machine may call everything.
   */
  certificate?: CertificateSource | undefined;
  /** Deadline of unary calls without one; 15 s by default. */
  defaultTimeoutMs?: number;
  /** Milliseconds that running calls get to finish after a stop; 10 s by default. */
  drainMs?: number;
  /**
   * Age at which a connection gets GOAWAY, ±10 %, so that clients connect to new pods, too; 5 min
   * by default.
   */
  sessionAgeMs?: number;
  /**
   * Time between the pings of a connection, which is closed when one is not answered before the
   * next; 15 s by default.
   */
  pingMs?: number;
  /**
   * A stream whose caller takes no message for so long is ended; 5 min by default, because an
   * export reads rows as they were at its start, which mongod by default keeps for 5 min.
   */
  stalledMs?: number;
}

export const rpcServerDefaults = {
  defaultTimeoutMs: 15_000,
  drainMs: 10_000,
  sessionAgeMs: 300_000,
  pingMs: 15_000,
  stalledMs: 300_000,
} as const;

/**
 * A listening server. Disposing it refuses new calls, waits up to `drainMs` for running ones, then
 * closes all connections.
 */
export interface RpcServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
}
