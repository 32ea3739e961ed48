import { Code, type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";

const itemFaultKey = createContextKey<unknown>(undefined);

/** `ErrorInfo` of an item of a batch that met a bug, while the others of its call have theirs. */
export const internalErrorInfo = { kind: "internal", message: "internal error", code: Code.Internal } as const;

/** Notes a bug that one item of a batch met. It is logged with the call, the last one noted. */
export function noteItemFault({ values }: Pick<HandlerContext, "values">, fault: unknown): void {
  values.set(itemFaultKey, fault);
}

/** The bug that was noted; undefined when there was none. */
export function itemFaultOf(values: ContextValues | undefined): unknown {
  return values?.get(itemFaultKey);
}
