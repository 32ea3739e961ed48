export interface Turn {
  readonly perSecond: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

/** One side of a comparison: a name, and a turn that returns a rate (higher is better). */
export interface Side {
  readonly name: string;
  run(): Promise<Turn>;
}

/** Medians over all turns. */
interface Comparison {
  readonly ours: Required<Turn>;
  readonly baseline: Required<Turn>;
  /** Median of the ratios of pairs, ours to the baseline's. */
  readonly ratio: number;
}

/**
 * Runs both sides in turn (ours, baseline, ours, …) after one warm-up each, so that a machine that
 * becomes slower or faster affects both. Prints every pair and the medians.
 */
export async function compare(ours: Side, baseline: Side, rounds: number): Promise<Comparison> {
  await ours.run();
  await baseline.run();
  const pairs: { ours: Turn; baseline: Turn }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ ours: await ours.run(), baseline: await baseline.run() });
  }
  const comparison = {
    ours: mediansOf(pairs.map((pair) => pair.ours)),
    baseline: mediansOf(pairs.map((pair) => pair.baseline)),
    ratio: median(pairs.map((pair) => pair.ours.perSecond / pair.baseline.perSecond)),
  };
  const toRow = (a: Turn, b: Turn, ratio: number) => ({
    ratio: rounded(ratio),
    ...columns(ours.name, a),
    ...columns(baseline.name, b),
  });
  const rows = pairs.map(({ ours: a, baseline: b }) => toRow(a, b, a.perSecond / b.perSecond));
  const named = Object.fromEntries(rows.map((row, index) => [`pair ${index + 1}`, row]));
  console.table({ ...named, median: toRow(comparison.ours, comparison.baseline, comparison.ratio) });
  return comparison;
}

function columns(name: string, { perSecond, p50Ms, p99Ms }: Turn): Record<string, number> {
  return {
    [`${name}/s`]: Math.round(perSecond),
    ...(p50Ms === undefined || Number.isNaN(p50Ms) ? {} : { [`${name} p50 ms`]: rounded(p50Ms) }),
    ...(p99Ms === undefined || Number.isNaN(p99Ms) ? {} : { [`${name} p99 ms`]: rounded(p99Ms) }),
  };
}

function mediansOf(turns: readonly Turn[]): Required<Turn> {
  return {
    perSecond: median(turns.map(({ perSecond }) => perSecond)),
    p50Ms: median(turns.flatMap(({ p50Ms }) => p50Ms ?? [])),
    p99Ms: median(turns.flatMap(({ p99Ms }) => p99Ms ?? [])),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
