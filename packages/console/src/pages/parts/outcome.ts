import { durationMs } from "@bufbuild/protobuf/wkt";
import type { DeliveryAttempt } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { PingResult } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { STATUS_CODES } from "node:http";

const failures: Readonly<Record<string, string>> = {
  address_refused: "address not allowed",
  dns: "name not found",
  tls: "TLS failed",
  timeout: "timed out",
  connection: "no connection",
};

type Outcome = Pick<DeliveryAttempt | PingResult, "status" | "failure" | "took">;

/** The result of an attempt: `503 Service Unavailable`, `timed out`. */
export function outcomeOf({ status, failure }: Outcome): string {
  if (status === 0) return failures[failure] ?? failure;
  return [status, STATUS_CODES[status]].filter(Boolean).join(" ");
}

export function isAccepted({ status }: Pick<Outcome, "status">): boolean {
  return status >= 200 && status < 300;
}

/** Duration of an attempt: `81 ms`, `10.2 s`. */
export function tookOf({ took }: Outcome): string {
  const ms = Math.round(took ? durationMs(took) : 0);
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
