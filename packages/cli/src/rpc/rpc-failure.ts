import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { CliError } from "../cli-error.ts";
import { connectionFailure } from "../connection-failure.ts";
import { describeRefusal } from "../terminal/describe-refusal.ts";

/**
 * Whether a call failed with UNAVAILABLE: the service could not be reached, or could not answer
 * now, for example for lack of capacity.
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unavailable;
}

/** Describes a failed call, with the service's message if the error has one. */
export function rpcFailure(error: unknown, service: string): CliError {
  if (error instanceof CliError) return error;
  const failure = ConnectError.from(error);
  const [info] = failure.findDetails(ErrorInfoSchema);
  if (info) return new CliError(describeRefusal(info), { cause: error });
  return new CliError(messageOf(failure, service), { cause: error });
}

function messageOf({ code, rawMessage }: ConnectError, service: string): string {
  if (code === Code.Unavailable) return `${service} cannot be reached: ${connectionFailure(rawMessage)}`;
  if (code === Code.DeadlineExceeded) return `${service} did not answer in time`;
  return `${service} failed: ${rawMessage}`;
}
