import type { HandlerContext } from "@connectrpc/connect";
import { DomainError } from "@vidimus/kit/errors";
import { asDomainError, toErrorInfo } from "@vidimus/kit/rpc/errors/error-table";
import { internalErrorInfo, noteItemFault } from "@vidimus/kit/rpc/errors/item-fault";

export function refused(error: DomainError) {
  return { outcome: { case: "error" as const, value: toErrorInfo(error) } };
}

/**
 * The result of a failed item of a batch. A bug affects only its item, and is logged with the call.
 * Rethrows failures of an unavailable or slow database, so that the whole call is repeated, and all
 * but a `DomainError` when the caller has left.
 */
export function failed(error: Error, context: HandlerContext) {
  if (error instanceof DomainError) return refused(error);
  if (asDomainError(error) || context.signal.aborted) throw error;
  noteItemFault(context, error);
  return { outcome: { case: "error" as const, value: internalErrorInfo } };
}
