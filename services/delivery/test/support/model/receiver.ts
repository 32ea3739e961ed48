import type { Collection } from "mongodb";
import type { AttemptOutcome, Lane } from "../../../src/domain/delivery.ts";
import type { DeliveryRow } from "../../../src/store/rows.ts";

/** `lostAnswer`: the receiver accepts the webhook, and the sender gets no answer. */
export type Reaction = "accepted" | "refused" | "failed" | "lostAnswer";

export class Violation extends Error {}

/** A receiver in memory. It knows the rules of the lanes, and throws when one is broken. */
export class ModelReceiver {
  readonly accepted = new Set<string>();
  readonly #newest = new Map<string, number>();
  /** From `keyOf` of a webhook to the turn at which the sender had recorded its acceptance. */
  readonly #recorded = new Map<string, number>();
  readonly #rows: Collection<DeliveryRow>;
  readonly #whole: <T>(read: Promise<T>) => Promise<T>;
  readonly #endpoint: Pick<Lane, "tenantId" | "endpointId">;

  /**
   * @param rows read without a turn, because the receiver is no part of the script
   * @param whole awaits a read, and gives no turn until it has ended
   */
  constructor(
    rows: Collection<DeliveryRow>,
    endpoint: Pick<Lane, "tenantId" | "endpointId">,
    whole: <T>(read: Promise<T>) => Promise<T>,
  ) {
    this.#rows = rows;
    this.#whole = whole;
    this.#endpoint = endpoint;
  }

  /** @param loadedAt the turn at which the sender read the lane */
  async post(row: DeliveryName, loadedAt: number, reaction: Reaction): Promise<AttemptOutcome> {
    const { documentId, sequence } = row;
    const newest = this.#newest.get(documentId) ?? 0;
    if (newest > sequence) throw new Violation(`${sequence} is sent after ${newest} was accepted`);
    const recordedAt = this.#recorded.get(keyOf(row));
    if (recordedAt !== undefined && recordedAt < loadedAt) {
      throw new Violation(`${sequence} is sent again though its 2xx was recorded`);
    }
    await this.#requireJournaled(row);
    return this.#react(row, reaction);
  }

  /** Takes a webhook of a replay, which may come in any order. */
  replay(name: Omit<DeliveryName, "deliveryId">, reaction: Reaction): AttemptOutcome {
    if (reaction === "accepted" || reaction === "lostAnswer") this.accepted.add(keyOf(name));
    return outcomeOf(reaction);
  }

  noteRecorded(name: Omit<DeliveryName, "deliveryId">, at: number): void {
    this.#recorded.set(keyOf(name), at);
  }

  #react(row: DeliveryName, reaction: Reaction): AttemptOutcome {
    if (reaction === "accepted" || reaction === "lostAnswer") {
      this.accepted.add(keyOf(row));
      this.#newest.set(row.documentId, row.sequence);
    }
    return outcomeOf(reaction);
  }

  /** Requires that the results of all older rows are journaled before a newer one is sent. */
  async #requireJournaled({ documentId, sequence, deliveryId }: DeliveryName): Promise<void> {
    const filter = { ...this.#endpoint, documentId, endedAt: { $exists: false } };
    const rows = await this.#whole(this.#rows.find(filter).toArray());
    const hasYielded = rows.some(({ yieldedTo }) => yieldedTo === deliveryId);
    const older = rows.find((row) => row.sequence < sequence && !(hasYielded && row.isRefused));
    if (!older) return;
    const seen = rows.map((row) => `${row.sequence} ${row._id} refused ${row.isRefused} yielded to ${row.yieldedTo}`);
    throw new Violation(`${sequence} is sent while ${older.sequence} waits\n${seen.join("\n")}`);
  }
}

/** Names a delivery to the script's only endpoint. */
interface DeliveryName {
  readonly documentId: string;
  readonly sequence: number;
  readonly deliveryId: string;
}

function keyOf({ documentId, sequence }: Pick<DeliveryName, "documentId" | "sequence">): string {
  return `${documentId} ${sequence}`;
}

const statuses = { accepted: { status: 204 }, refused: { status: 500 }, failed: { status: 503 } };

function outcomeOf(reaction: Reaction): AttemptOutcome {
  const answer = reaction === "lostAnswer" ? { failure: "timeout" as const } : statuses[reaction];
  return { startedAt: new Date(), tookMs: 1, ...answer };
}
