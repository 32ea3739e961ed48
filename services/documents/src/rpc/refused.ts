import type { DomainError } from "@vidimus/kit/errors";
import { toErrorInfo } from "@vidimus/kit/rpc/error-table";

/** One refused item of a batch. */
export function refused(error: DomainError) {
  return { outcome: { case: "error" as const, value: toErrorInfo(error) } };
}
