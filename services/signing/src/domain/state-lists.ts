import { DomainError } from "@vidimus/kit/errors";
import type { KeyCustody } from "./key-custody.ts";
import { RingFault } from "./sealed-ring.ts";
import { isCurrent, type StatedList, stateList } from "./stated-list.ts";
import type { RingStorage } from "./update-ring.ts";

interface StateListsDeps {
  readonly rings: Pick<RingStorage, "read">;
  readonly custody: Pick<KeyCustody, "open">;
  now(): Date;
  /** Called at each read of a ring that cannot be used. */
  reportFault(fault: RingFault): void;
}

/**
 * Reads rings and signs their lists. While the ring cannot be used the last signed list is
 * returned, if there is one; receivers refuse it when it is 25 hours old.
 *
 * @returns a function that throws DomainError unavailable when there is no list
 */
export function stateLists({ rings, custody, now, reportFault }: StateListsDeps): () => Promise<StatedList> {
  let last: StatedList | undefined;
  return async () => {
    try {
      const ring = await rings.read();
      if (ring && !(last && (ring.revision < last.ring.revision || isCurrent(last, ring.revision, now())))) {
        last = await stateList(ring, now(), await custody.open(ring.listKey));
      }
    } catch (error) {
      if (!(error instanceof RingFault)) throw error;
      reportFault(error);
      if (!last) throw new DomainError("unavailable", "the key ring cannot be used", { cause: error });
    }
    if (last) return last;
    throw new DomainError("unavailable", "there is no key ring yet");
  };
}
