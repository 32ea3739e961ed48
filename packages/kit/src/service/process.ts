import { errorText } from "../telemetry/describe-error.ts";
import { ConfigError } from "../env.ts";
import { lowerHelpers } from "../tuning/lower-helpers.ts";

/**
 * EX_CONFIG of sysexits.h: a restart does not help until a setting, or what it points to, is fixed.
 */
const configExitCode = 78;
/** Line above a configuration's faults on stderr, by which the dev stack finds them in a log. */
export const configFaults = "cannot start, the configuration has faults:\n";

/**
 * Runs a service until SIGTERM or SIGINT, disposes it, and ends the process: with code 0 after a
 * stop, with 78 (EX_CONFIG) when a setting is not usable, with 1 after any other failure.
 *
 * A signal during the start ends the process at once, which is safe because every step of a start
 * may be repeated. `process.exit` is explicit because a failed start may leave a connection attempt
 * open, which would keep the process alive.
 */
export async function runUntilStopped(open: () => Promise<AsyncDisposable>): Promise<never> {
  const stopped = stopSignal();
  // Without this handler Node prints every property of an error, which may include database rows.
  process.once("uncaughtException", (error) => process.exit(report(error)));
  lowerHelpers();
  try {
    const opening = open();
    const isOpen = await Promise.race([opening.then(() => true), stopped.then(() => false)]);
    if (isOpen) {
      await using _service = await opening;
      await stopped;
    }
  } catch (error) {
    process.exit(report(error));
  }
  process.exit(0);
}

/**
 * Writes a failure of the command to stderr, without database rows, and sets the exit code: 78
 * (EX_CONFIG) when a setting is not usable, 1 otherwise.
 */
export async function runToEnd(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof ConfigError) {
    process.stderr.write(`${configFaults}${error.message}\n`);
    return configExitCode;
  }
  process.stderr.write(`${errorText(error)}\n`);
  return 1;
}

/**
 * A script gets two signals within milliseconds of one Ctrl-C: one from the terminal, one forwarded
 * by npm. A later signal comes from the user, who asks to end at once.
 */
const duplicateMs = 500;

/** Resolves at the first stop signal. A signal half a second later or more kills the process. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        firstMs ??= performance.now();
        if (performance.now() - firstMs >= duplicateMs) process.kill(process.pid, "SIGKILL");
        resolve(signal);
      });
    }
  });
}
