import { DomainError } from "@vidimus/kit/errors";
import { isUtf8 } from "node:buffer";

/**
 * Parses JSON.
 *
 * @throws DomainError `invalid` when it is not JSON, or not UTF-8
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new DomainError("invalid", "the body is not UTF-8");
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DomainError("invalid", `the body is not JSON: ${error.message.toWellFormed().slice(0, 200)}`);
  }
}
