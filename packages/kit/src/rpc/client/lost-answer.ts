import { status as Status, type StatusObject } from "@grpc/grpc-js";

/**
 * How grpc-js words the end of a call without a gRPC status: the server reset the stream, ended it
 * without trailers or closed the connection with an error, or the request could not be written.
 */
const wordings: readonly RegExp[] = [
  /^Received RST_STREAM with code \d/,
  /^Call cancelled$/,
  /^Bandwidth exhausted or memory limit exceeded$/,
  /^Failed to start HTTP\/2 stream with error /,
];

/**
 * The status of a call, UNAVAILABLE when no server has answered it. A server that stops or is
 * killed ends its streams in many ways, which grpc-js reports as INTERNAL, CANCELLED or
 * RESOURCE_EXHAUSTED; callers would mistake these for a bug, their own cancellation or a limit.
 * grpc-js does not pass on the code of the reset, so the wording of grpc-js has to be matched.
 */
export function withLostAnswer(status: StatusObject): StatusObject {
  const isLost = wordings.some((wording) => wording.test(status.details));
  return isLost ? { ...status, code: Status.UNAVAILABLE } : status;
}
