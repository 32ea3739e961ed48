export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

export function summarise(latenciesMs: readonly number[], elapsedMs: number): LoadResult {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const requests = sorted.length;
  return {
    requests,
    perSecond: (requests * 1_000) / elapsedMs,
    p50Ms: quantile(sorted, 0.5),
    p95Ms: quantile(sorted, 0.95),
    p99Ms: quantile(sorted, 0.99),
  };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
