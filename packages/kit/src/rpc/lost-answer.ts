import { status as Status, type StatusObject } from "@grpc/grpc-js";

/**
 * How grpc-js words the ends of calls that got no gRPC status: the server reset the stream or ended
 * it without trailers, closed the connection with an error, or the request could not be written.
 */
const wordings: readonly RegExp[] = [
  /^Received RST_STREAM with code \d/,
  /^Call cancelled$/,
  /^Bandwidth exhausted or memory limit exceeded$/,
  /^Failed to start HTTP\/2 stream with error /,
];

/**
 * The status of a call, UNAVAILABLE when no server has answered it. A server that stops or is killed
 * ends its streams in many ways, for which grpc-js reports INTERNAL, CANCELLED or RESOURCE_EXHAUSTED;
 * callers would take them for a bug, for their own doing, or for a limit. grpc-js does not pass on
 * the code of the reset, so its wording has to tell.
 */
export function withLostAnswer(status: StatusObject): StatusObject {
  const isLost = wordings.some((wording) => wording.test(status.details));
  return isLost ? { ...status, code: Status.UNAVAILABLE } : status;
}
