import { status as Status, type StatusObject } from "@grpc/grpc-js";
import { saysLostAnswer } from "../grpc-internals.ts";

/**
 * The status of a call, UNAVAILABLE when no server has answered it. A server that stops or is
 * killed ends its streams in many ways, which grpc-js reports as INTERNAL, CANCELLED or
 * RESOURCE_EXHAUSTED; callers would mistake these for a bug, their own cancellation or a limit.
 */
export function withLostAnswer(status: StatusObject): StatusObject {
  const isLost = saysLostAnswer(status.details);
  return isLost ? { ...status, code: Status.UNAVAILABLE } : status;
}
