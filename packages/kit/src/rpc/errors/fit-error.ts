import type { Violation } from "../../errors.ts";

interface ErrorText {
  readonly message: string;
  readonly violations: readonly Violation[];
  readonly metadata: Readonly<Record<string, string>>;
}

interface FittedText {
  message: string;
  violations: Violation[];
  metadata: Record<string, string>;
}

/** Limits in bytes of UTF-8: of the message, a violation's pointer or text, all violations. */
const messageBytesMax = 1_024;
const partBytesMax = 512;
const violationsBytesMax = 8_192;
/**
 * Limit of one value of metadata, in bytes. It admits 100 names of transitions with 32 characters
 * each, separated by commas.
 */
const metadataBytesMax = 4_096;

/**
 * Shortens an error so that it fits into gRPC trailers. With more than about 64 KiB of trailers the
 * peer resets the stream, so a refusal that quotes a large request would look like a crash. The
 * last violations are dropped first.
 */
export function fitError({ message, violations, metadata }: ErrorText): FittedText {
  const fitting: Violation[] = [];
  let bytes = 0;
  for (const violation of violations) {
    const [pointer, text] = [cut(violation.pointer, partBytesMax), cut(violation.message, partBytesMax)];
    bytes += Buffer.byteLength(pointer) + Buffer.byteLength(text) + 16;
    if (bytes > violationsBytesMax) break;
    fitting.push({ ...violation, pointer, message: text });
  }
  return { message: cut(message, messageBytesMax), violations: fitting, metadata: fitMetadata(metadata) };
}

/** Leaves out values that do not fit, because a program must not act on a cut one. */
function fitMetadata(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const fitting = Object.entries(metadata).filter(([, value]) => Buffer.byteLength(value) <= metadataBytesMax);
  return Object.fromEntries(fitting);
}

function cut(text: string, bytesMax: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return read === text.length ? text.toWellFormed() : `${text.slice(0, read).toWellFormed()}…`;
}
