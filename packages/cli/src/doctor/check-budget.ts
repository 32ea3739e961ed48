import { type Finding, ok, warning } from "./finding.ts";

const check = "write budget";

/**
 * Checks the budget that `RateLimit` and `RateLimit-Policy` state in the answer to the doctor's
 * write, an empty document. The gateway charges it before it refuses it with 400, so a 400 without
 * these headers means that no budget is set. Any other status without them gives undefined.
 */
export function checkBudget(status: number, headers: Headers): Finding | undefined {
  const { r: left, t: resetSeconds } = parametersOf(headers.get("ratelimit"));
  const { q: quota, w: windowSeconds } = parametersOf(headers.get("ratelimit-policy"));
  if (left === undefined || quota === undefined) return status === 400 ? ok(check, "none is set") : undefined;
  const finding = `${left} of ${quota} writes left in ${windowSeconds ?? "?"} s`;
  if (status !== 429 && left >= quota / 10) return ok(check, finding);
  const wait = `All is back in ${resetSeconds ?? headers.get("retry-after") ?? "some"} s.`;
  return warning(check, finding, `${wait} If that is the usual load, raise WRITE_BUDGET.`);
}

/**
 * The parameters of the item for writes, such as r and t of `"writes";r=2999;t=60`; empty when the
 * header has no such item.
 */
function parametersOf(header: string | null): Readonly<Record<string, number | undefined>> {
  const item = (header ?? "").split(",").find((each) => /^\s*"?writes"?\s*;/.test(each)) ?? "";
  return Object.fromEntries(
    Array.from(item.matchAll(/;\s*([a-z])=(\d+)/g), ([, name, value]) => [name, Number(value)]),
  );
}
