import { Gauge, type Registry } from "prom-client";
import type { SnapshotStore } from "./store/snapshot-store.ts";

/**
 * Registers metrics of how many snapshots delivery has not settled, and of the age of the oldest
 * one. Both are read from the database.
 */
export function reportPending(
  registry: Registry,
  snapshots: Pick<SnapshotStore, "countPending" | "listPending">,
): void {
  register(registry, {
    name: "vidimus_snapshots_pending",
    help: "Snapshots that delivery has not settled; 10,000 at most.",
    read: () => snapshots.countPending(),
  });
  register(registry, {
    name: "vidimus_snapshots_oldest_pending_seconds",
    help: "Seconds since the commit of the oldest snapshot that is not settled; 0 without one.",
    read: async () => {
      const [oldest] = await snapshots.listPending({ limit: 1 });
      return oldest ? Math.max(0, Date.now() - oldest.committedAt.getTime()) / 1_000 : 0;
    },
  });
}

interface ReadGauge {
  readonly name: string;
  readonly help: string;
  /** Called at each scrape. When it rejects, the scrape shows no value. */
  read(): Promise<number>;
}

function register(registry: Registry, { name, help, read }: ReadGauge): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read().catch(() => undefined);
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    },
  });
}
