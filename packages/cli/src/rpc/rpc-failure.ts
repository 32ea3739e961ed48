import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { CliError } from "../failure.ts";

/** Whether a call failed because nobody answered, or nobody could. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unavailable;
}

/** A failed call in words: the service's own where it gave some. */
export function rpcFailure(error: unknown, service: string): CliError {
  if (error instanceof CliError) return error;
  const failure = ConnectError.from(error);
  const [info] = failure.findDetails(ErrorInfoSchema);
  if (info) return new CliError(withPlaces(info.message, info.violations), { cause: error });
  return new CliError(wordsOf(failure, service), { cause: error });
}

/** A message and, below it, the places in the input that are at fault. */
export function withPlaces(message: string, places: readonly { pointer: string; message: string }[]): string {
  return [message, ...places.map((place) => `  ${place.pointer || "(the whole)"}: ${place.message}`)].join("\n");
}

function wordsOf({ code, rawMessage }: ConnectError, service: string): string {
  if (code === Code.Unavailable) return `${service} cannot be reached: ${rawMessage}`;
  if (code === Code.DeadlineExceeded) return `${service} did not answer in time`;
  return `${service} failed: ${rawMessage}`;
}
