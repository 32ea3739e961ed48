import { Code, ConnectError } from "@connectrpc/connect";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";

/** How a call failed; throws when it did not. */
export async function failure(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConnectError)) throw new Error("the call did not fail", { cause: error });
  const domain = fromConnectError(error);
  return {
    code: Code[error.code],
    kind: domain?.kind,
    message: error.rawMessage,
    pointers: domain?.violations.map(({ pointer }) => pointer) ?? [],
    reason: domain?.reason,
    metadata: domain?.metadata,
  };
}
