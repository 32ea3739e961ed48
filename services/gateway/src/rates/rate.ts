export interface Rate {
  readonly count: number;
  readonly windowMs: number;
}

const pattern = /^([1-9]\d{0,8})\/([1-9]\d{0,4})s$/;

/** Reads a rate of the form `3000/60s`; undefined for any other text. */
export function parseRate(text: string): Rate | undefined {
  const [, count, seconds] = pattern.exec(text) ?? [];
  return count === undefined ? undefined : { count: Number(count), windowMs: Number(seconds) * 1000 };
}
