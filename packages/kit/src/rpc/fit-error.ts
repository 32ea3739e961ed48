import type { Violation } from "../errors.ts";

interface ErrorText {
  readonly message: string;
  readonly violations: readonly Violation[];
}

/** Limits in bytes of UTF-8. */
const messageBytesMax = 1_024;
const partBytesMax = 512;
const violationsBytesMax = 8_192;

/**
 * Shortens an error so that it fits into gRPC trailers. With more than about 64 KiB of trailers the
 * peer resets the stream, so a refusal that quotes a large request would look like a crash. The
 * last violations are dropped first.
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
