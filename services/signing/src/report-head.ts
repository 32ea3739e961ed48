import type { Logger } from "@vidimus/kit/telemetry/log";
import type { LedgerStore } from "./store/ledger-store.ts";

const hourMs = 3_600_000;

/**
 * Logs the head of the ledger at the start and every hour. An audit that is given an earlier head
 * finds that batches were cut off the end of the ledger; the ledger alone does not show it.
 */
export function reportHead(ledger: Pick<LedgerStore, "head">, log: Pick<Logger, "info" | "warn">): Disposable {
  const report = async () => {
    try {
      const head = await ledger.head();
      if (!head) return;
      const { number: ledgerBatch, mac } = head;
      log.info({ ledgerBatch, ledgerHead: Buffer.from(mac).toString("hex") }, "head of the ledger");
    } catch (error) {
      log.warn({ err: error }, "could not read the head of the ledger");
    }
  };
  void report();
  const timer = setInterval(() => void report(), hourMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
