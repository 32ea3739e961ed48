import { Code, type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";

const itemFaultKey = createContextKey<unknown>(undefined);

/** `ErrorInfo` of a batch's item that failed by a bug. */
export const internalErrorInfo = { kind: "internal", message: "internal error", code: Code.Internal } as const;

/**
 * Notes a bug that one item of a batch caused, to be logged with the call. Only the last one is
 * kept.
 */
export function noteItemFault({ values }: Pick<HandlerContext, "values">, fault: unknown): void {
  values.set(itemFaultKey, fault);
}

export function itemFaultOf(values: ContextValues | undefined): unknown {
  return values?.get(itemFaultKey);
}
