import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";

export async function unlessNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (fromConnectError(error)?.kind === "not_found") return undefined;
    throw error;
  }
}
