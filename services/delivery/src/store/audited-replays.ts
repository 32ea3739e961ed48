import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { LoggedDelivery, Replay } from "../domain/delivery-log.ts";
import type { ReplayStore } from "./replay-store.ts";

/**
 * Starts and cancels replays that people ask for, each in one transaction with its audit entry, and
 * writes the audit entries of redeliveries.
 */
export class AuditedReplays {
  readonly #replays: ReplayStore;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(replays: ReplayStore, audit: Pick<AuditLog, "transact">) {
    this.#replays = replays;
    this.#audit = audit;
  }

  /** @returns whether it was stored; false while another replay of the endpoint runs */
  async start(replay: Replay, by: AuditAuthor): Promise<boolean> {
    const { tenantId, replayId: subject, endpointId, since, until, states, latestOnly } = replay;
    const detail = { endpointId, since, until, states, latestOnly };
    try {
      await this.#audit.transact(async (session, record) => {
        await this.#replays.within(session).insert(replay);
        await record(by, { tenantId, action: "start_replay", subject, detail });
      });
      return true;
    } catch (error) {
      // Caught outside of the transaction, which a duplicate key has ended already.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async cancel({ tenantId, replayId: subject, endpointId }: Replay, now: Date, by: AuditAuthor): Promise<void> {
    await this.#audit.transact(async (session, record) => {
      if (!(await this.#replays.within(session).cancel(tenantId, subject, now))) return;
      await record(by, { tenantId, action: "cancel_replay", subject, detail: { endpointId } });
    });
  }

  /** Notes that someone asks for an attempt at a delivery. Called before the attempt is made. */
  async noteRedelivery(delivery: LoggedDelivery, by: AuditAuthor): Promise<void> {
    const { tenantId, deliveryId: subject, endpointId, webhookId } = delivery;
    const change = { tenantId, action: "redeliver", subject, detail: { endpointId, webhookId } };
    await this.#audit.transact((_session, record) => record(by, change));
  }
}
