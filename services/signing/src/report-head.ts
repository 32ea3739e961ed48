import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { LedgerStore } from "./store/ledger-store.ts";

const hourMs = 3_600_000;

/**
 * Logs the head of the ledger at the start and every hour. With an earlier head an audit finds out
 * whether batches were removed from the end of the ledger, which the ledger alone does not show.
 */
export function reportHead(ledger: Pick<LedgerStore, "head">, log: Pick<Logger, "info" | "warn">): AsyncDisposable {
  const report = async () => {
    const head = await ledger.head();
    if (!head) return;
    const { number: ledgerBatch, mac } = head;
    log.info({ ledgerBatch, ledgerHead: Buffer.from(mac).toString("hex") }, "head of the ledger");
  };
  const onFailure = (error: unknown) => log.warn({ err: error }, "could not read the head of the ledger");
  return repeat(report, { everyMs: hourMs, onFailure });
}
