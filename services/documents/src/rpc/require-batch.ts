import { DomainError } from "@vidimus/kit/errors";

/** Most items in one batch. */
const itemsMax = 64;

/** Throws `invalid` for an empty batch and for one of more than 64; `what` names its items in the message. */
export function requireBatch(items: readonly unknown[], what = "items"): void {
  if (items.length > 0 && items.length <= itemsMax) return;
  throw new DomainError("invalid", `a batch has 1 to ${itemsMax} ${what}, this one ${items.length}`);
}
