/**
 * The exponential moving average after another value, which weighs 1 / `count`.
 *
 * @param before undefined for the first value
 */
export function movingMean(before: number | undefined, value: number, count: number): number {
  return before === undefined ? value : before + (value - before) / count;
}
