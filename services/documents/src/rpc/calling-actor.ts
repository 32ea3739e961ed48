import type { HandlerContext } from "@connectrpc/connect";
import { callContext } from "@vidimus/kit/rpc/call-context";
import type { Actor } from "../domain/document/document.ts";

/** Who acts in the call being handled, as its metadata says. */
export function callingActor(context: HandlerContext): Actor {
  const { actor, role } = callContext(context);
  return { actor, role };
}
