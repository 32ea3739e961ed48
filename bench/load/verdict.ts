type Bar = { readonly atLeast: number } | { readonly atMost: number };

/** Prints whether a figure meets its bar. A missed bar does not fail the command. */
export function checkBar(what: string, value: number, bar: Bar): void {
  const isMet = "atLeast" in bar ? value >= bar.atLeast : value <= bar.atMost;
  const wanted = "atLeast" in bar ? `at least ${shown(bar.atLeast)}` : `at most ${shown(bar.atMost)}`;
  console.log(`${isMet ? "met   " : "MISSED"} ${what}: ${shown(value)} (bar: ${wanted})`);
}

const statedShareMin = 0.8;

/**
 * Prints whether the machine was fast enough: a baseline below 80 % of its stated figure voids the
 * run.
 */
export function checkBaseline(what: string, perSecond: number, stated: number): void {
  const stands = perSecond >= statedShareMin * stated;
  console.log(`${stands ? "stands" : "VOID  "} baseline ${what}: ${shown(perSecond)}/s (stated: ${shown(stated)}/s)`);
}

function shown(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 2 : 0 });
}
