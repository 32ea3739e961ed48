/**
 * The mean after another value, mostly of the last `count` values.
 *
 * @param before undefined for the first value
 */
export function movingMean(before: number | undefined, value: number, count: number): number {
  return before === undefined ? value : before + (value - before) / count;
}
