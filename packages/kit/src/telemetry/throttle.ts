/**
 * The first call reports at once; further calls report at most every `everyMs` milliseconds, with
 * the number of calls that were suppressed since the last report.
 */
export function throttle<T>(everyMs: number, report: (what: T, suppressed: number) => void): (what: T) => void {
  let reportedMs = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (what) => {
    const nowMs = performance.now();
    if (nowMs - reportedMs < everyMs) {
      suppressed += 1;
      return;
    }
    report(what, suppressed);
    reportedMs = nowMs;
    suppressed = 0;
  };
}
