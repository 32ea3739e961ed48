import { ConfigError } from "./env.ts";

/**
 * Runs a service until SIGTERM or SIGINT asks it to stop, then closes it in its own order.
 *
 * A configuration fault is printed for the operator and ends the process with 78 (EX_CONFIG); any other failure to
 * start or stop is printed with its stack and ends it with 1. `main.ts` calls this and nothing else.
 */
export async function runUntilStopped(open: () => Promise<AsyncDisposable>): Promise<void> {
  const stopped = stopSignal();
  try {
    await using _service = await open();
    await stopped;
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`cannot start, the configuration has faults:\n${error.message}\n`);
      process.exitCode = 78;
    } else {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    }
  }
}

/** Resolves with the first stop signal; a second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        resolve(signal);
        process.once(signal, () => process.kill(process.pid, "SIGKILL"));
      });
    }
  });
}
