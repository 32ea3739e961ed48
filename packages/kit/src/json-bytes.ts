import { isUtf8 } from "node:buffer";
import { DomainError } from "./errors.ts";

export function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/**
 * @throws DomainError `invalid` when the bytes are not UTF-8, or begin with a byte order mark: a
 * parser would report the mark as an unexpected token, which no editor shows
 */
export function checkJsonBytes(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw new DomainError("invalid", "the body is not UTF-8");
  if (!hasByteOrderMark(bytes)) return;
  throw new DomainError("invalid", "the body begins with a byte order mark (EF BB BF), which JSON must not have");
}
