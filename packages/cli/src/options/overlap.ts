import { Option } from "commander";

const hourMs = 3_600_000;

/**
 * From the value of `--overlap` to milliseconds: how long an old secret or key stays valid after it
 * was replaced.
 */
export const overlapsMs = { "0": 0, "1h": hourMs, "24h": 24 * hourMs, "7d": 7 * 24 * hourMs } as const;

export type Overlap = keyof typeof overlapsMs;

export function overlapOption(description: string): Option {
  return new Option("--overlap <time>", description).choices(["0", "1h", "24h", "7d"] satisfies Overlap[]);
}
