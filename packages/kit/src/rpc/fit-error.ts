import type { Violation } from "../errors.ts";

/** What a caller is told of a failure. */
interface ErrorText {
  readonly message: string;
  readonly violations: readonly Violation[];
}

/** In bytes of UTF-8. */
const messageBytesMax = 1_024;
const partBytesMax = 512;
const violationsBytesMax = 8_192;

/**
 * Shortens what a caller is told so that it fits into trailers: past some 64 KiB of them the peer resets the stream, and
 * a refusal that quotes a hostile request would reach its caller as a crash. Violations are left out from the end.
 */
export function fitError({ message, violations }: ErrorText): { message: string; violations: Violation[] } {
  const fitting: Violation[] = [];
  let bytes = 0;
  for (const violation of violations) {
    const [pointer, text] = [cut(violation.pointer, partBytesMax), cut(violation.message, partBytesMax)];
    bytes += Buffer.byteLength(pointer) + Buffer.byteLength(text) + 16;
    if (bytes > violationsBytesMax) break;
    fitting.push({ ...violation, pointer, message: text });
  }
  return { message: cut(message, messageBytesMax), violations: fitting };
}

function cut(text: string, bytesMax: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return read === text.length ? text.toWellFormed() : `${text.slice(0, read).toWellFormed()}…`;
}
