import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { RingWatch, Signers } from "./domain/ring-watch.ts";
import type { CheckedClock } from "./domain/checked-clock.ts";
import { RingFault } from "./domain/sealed-ring.ts";

const everyMs = 1_000;

interface WatchRingOptions {
  /** Undefined when this process does not sign. */
  signers: Pick<Signers, "leave"> | undefined;
  clock: Pick<CheckedClock, "isOff" | "offsetMs">;
  log: Pick<Logger, "info" | "warn" | "error">;
  reportFault(fault: RingFault): void;
}

/**
 * Looks at the ring now, and then again a second after each look until the returned value is
 * disposed.
 *
 * @throws errors of the first look, because a process that cannot use the ring must not start
 */
export async function watchRing(
  watch: RingWatch,
  { signers, clock, log, reportFault }: WatchRingOptions,
): Promise<AsyncDisposable> {
  const first = await watch.look();
  log.info({ keyId: first?.key?.keyId, ringRevision: first?.ring.revision }, "read the key ring");
  const tellOfClock = clockTeller(clock, log);
  tellOfClock();
  // The clock has a timer of its own, because a look that hangs must not delay its alarm.
  const telling = setInterval(tellOfClock, everyMs).unref();
  const looks = repeat(async () => void (await watch.look()), {
    everyMs,
    pausesFirst: true,
    onFailure(error) {
      if (error instanceof RingFault) reportFault(error);
      else log.warn({ err: error }, "could not read the key ring");
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(telling);
      await looks[Symbol.asyncDispose]();
      await signers?.leave();
    },
  };
}

function clockTeller(clock: WatchRingOptions["clock"], log: Pick<Logger, "info" | "error">): () => void {
  let wasOff = false;
  return () => {
    const { isOff } = clock;
    if (isOff === wasOff) return;
    wasOff = isOff;
    const offsetSeconds = (clock.offsetMs() ?? 0) / 1000;
    if (isOff) {
      log.error({ alarm: "signing_clock", offsetSeconds }, "this clock is far from the database's: nothing is signed");
    } else log.info({ offsetSeconds }, "this clock is near the database's again");
  };
}
