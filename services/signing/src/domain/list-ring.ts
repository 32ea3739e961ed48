import { DomainError } from "@vidimus/kit/errors";
import type { KeyRing } from "./key-ring.ts";
import { RingFault } from "./sealed-ring.ts";
import type { RingStorage } from "./update-ring.ts";

/**
 * Reads rings for the trust list. A ring that cannot be used is not shown: the last one that could is
 * shown instead, if there is one.
 *
 * @param reportFault is called at each read of a ring that cannot be used
 * @returns a function that throws DomainError unavailable when there is nothing to show
 */
export function listRing(
  rings: Pick<RingStorage, "read">,
  reportFault: (fault: RingFault) => void,
): () => Promise<KeyRing | undefined> {
  let lastGood: KeyRing | undefined;
  return async () => {
    try {
      const ring = await rings.read();
      if (ring && (!lastGood || ring.revision >= lastGood.revision)) lastGood = ring;
      return lastGood;
    } catch (error) {
      if (!(error instanceof RingFault)) throw error;
      reportFault(error);
      if (lastGood) return lastGood;
      throw new DomainError("unavailable", "the key ring cannot be used", { cause: error });
    }
  };
}
