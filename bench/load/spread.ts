interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Without figures all three are NaN. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return { median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) };
}

/** The columns `NAME` and `NAME from–to` of a row. */
export function spreadColumns(name: string, { median, min, max }: Spread, digits = 2): Record<string, number | string> {
  return {
    [name]: Number(median.toFixed(digits)),
    [`${name} from–to`]: `${min.toFixed(digits)}–${max.toFixed(digits)}`,
  };
}
