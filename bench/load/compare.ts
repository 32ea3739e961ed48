/** One side of a comparison: a name, and a run that answers a rate (higher is better). */
export interface Side {
  readonly name: string;
  run(): Promise<{ perSecond: number; p50Ms: number; p99Ms: number }>;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const twoDigits = (value: number) => Math.round(value * 100) / 100;

/**
 * Runs both sides in turn (ours, baseline, ours, …) after one warm-up each, so that a machine whose speed drifts slows both,
 * and prints each side's median and the median of the ratios pair by pair.
 */
export async function compare(ours: Side, baseline: Side, rounds: number): Promise<void> {
  await ours.run();
  await baseline.run();
  const rows: Record<string, number>[] = [];
  for (let turn = 0; turn < rounds; turn += 1) {
    const a = await ours.run();
    const b = await baseline.run();
    rows.push({
      [`${ours.name}/s`]: Math.round(a.perSecond),
      [`${baseline.name}/s`]: Math.round(b.perSecond),
      ratio: twoDigits(a.perSecond / b.perSecond),
      "ours p50 ms": twoDigits(a.p50Ms),
      "ours p99 ms": twoDigits(a.p99Ms),
      "baseline p50 ms": twoDigits(b.p50Ms),
    });
  }
  const columns = Object.keys(rows[0] ?? {});
  const medians = Object.fromEntries(columns.map((column) => [column, median(rows.map((row) => row[column] ?? 0))]));
  console.table({ ...Object.fromEntries(rows.map((row, index) => [`run ${index + 1}`, row])), median: medians });
}
