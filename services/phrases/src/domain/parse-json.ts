import { DomainError } from "@vidimus/kit/errors";
import { checkJsonBytes } from "@vidimus/kit/json-bytes";

/** @throws DomainError `invalid` when the bytes are not JSON, or not UTF-8 */
export function parseJson(bytes: Uint8Array): unknown {
  checkJsonBytes(bytes);
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DomainError("invalid", `the body is not JSON: ${error.message.toWellFormed().slice(0, 200)}`);
  }
}
