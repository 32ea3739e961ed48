import type { HandlerContext } from "@connectrpc/connect";
import { DomainError } from "@vidimus/kit/errors";
import { asDomainError, toErrorInfo } from "@vidimus/kit/rpc/error-table";
import { internalErrorInfo, noteItemFault } from "@vidimus/kit/rpc/item-fault";

/** One refused item of a batch. */
export function refused(error: DomainError) {
  return { outcome: { case: "error" as const, value: toErrorInfo(error) } };
}

/**
 * One failed item of a batch. A bug is the item's alone, and is logged with the call. Throws what
 * makes the whole call worth repeating: that the database is away, or that the caller left.
 */
export function failed(error: Error, context: HandlerContext) {
  if (error instanceof DomainError) return refused(error);
  if (asDomainError(error) || context.signal.aborted) throw error;
  noteItemFault(context, error);
  return { outcome: { case: "error" as const, value: internalErrorInfo } };
}
