import { EnvReader } from "@vidimus/kit/env";

interface BenchSettings {
  /** Measured turns of each side; BENCH_ROUNDS, 5 by default. */
  readonly rounds: number;
  /** Length of one turn; BENCH_SECONDS, 5 by default. */
  readonly durationMs: number;
  /**
   * Number of publications that `pages` seeds, and behind which its deep pages lie;
   * BENCH_PUBLICATIONS, 1,000,000 by default.
   */
  readonly publications: number;
  /** Duration of a receiver's outage; BENCH_OUTAGE_SECONDS, 60 by default. */
  readonly outageMs: number;
  /** Snapshots in a burst; BENCH_DELIVERIES, 10,000 by default. */
  readonly deliveries: number;
  /**
   * For how long mongod keeps what was overwritten, in seconds; BENCH_HISTORY_SECONDS, 300 by
   * default, as in a deployment.
   */
  readonly historySeconds: number;
}

/** Reads the settings; throws a ConfigError that names every fault. */
export function readBenchSettings(variables: NodeJS.ProcessEnv = process.env): BenchSettings {
  const env = new EnvReader(variables);
  const settings = {
    rounds: env.int("BENCH_ROUNDS", { min: 1, max: 101, fallback: 5 }),
    durationMs: 1_000 * env.int("BENCH_SECONDS", { min: 1, max: 600, fallback: 5 }),
    publications: env.int("BENCH_PUBLICATIONS", { min: 1_000, max: 10_000_000, fallback: 1_000_000 }),
    outageMs: 1_000 * env.int("BENCH_OUTAGE_SECONDS", { min: 1, max: 3_600, fallback: 60 }),
    deliveries: env.int("BENCH_DELIVERIES", { min: 100, max: 1_000_000, fallback: 10_000 }),
    historySeconds: env.int("BENCH_HISTORY_SECONDS", { min: 0, max: 300, fallback: 300 }),
  };
  env.finish();
  return settings;
}
