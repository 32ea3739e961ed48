import type { Logger } from "@vidimus/kit/telemetry/log";
import type { RingWatch, Signers } from "./domain/ring-watch.ts";
import { RingFault } from "./domain/sealed-ring.ts";

const lookEveryMs = 1_000;

interface WatchRingOptions {
  /** Where this process reports that it signs; undefined when it does not. */
  signers: Pick<Signers, "leave"> | undefined;
  log: Pick<Logger, "info" | "warn">;
  reportFault(fault: RingFault): void;
}

/**
 * Looks at the ring now, and then every second until it is disposed.
 *
 * @throws whatever the first look throws: a process that cannot sign must not start
 */
export async function watchRing(
  watch: RingWatch,
  { signers, log, reportFault }: WatchRingOptions,
): Promise<AsyncDisposable> {
  const first = await watch.look();
  log.info({ keyId: first?.key?.keyId, ringRevision: first?.ring.revision }, "read the key ring");
  let looking: Promise<void> = Promise.resolve();
  const look = async () => {
    try {
      await watch.look();
    } catch (error) {
      if (error instanceof RingFault) reportFault(error);
      else log.warn({ err: error }, "could not read the key ring");
    }
  };
  const timer = setInterval(() => {
    looking = look();
  }, lookEveryMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
      await signers?.leave();
    },
  };
}
