import { InvalidArgumentError } from "commander";

/** A time as `google.protobuf.Timestamp` has it. */
export interface TimestampInit {
  readonly seconds: bigint;
  readonly nanos: number;
}

/**
 * Reads the value of an option as an ISO 8601 date or date-time; without an offset it is UTC.
 *
 * @throws InvalidArgumentError for any other text; commander prints it, and the command exits with
 * 2
 */
export function timestamp(text: string): TimestampInit {
  const { epochNanoseconds } = instantOf(text);
  const nanos = ((epochNanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return { seconds: (epochNanoseconds - nanos) / 1_000_000_000n, nanos: Number(nanos) };
}

function instantOf(text: string): Temporal.Instant {
  try {
    return Temporal.Instant.from(text);
  } catch {
    return instantInUtc(text);
  }
}

function instantInUtc(text: string): Temporal.Instant {
  try {
    // `PlainDateTime` would ignore the zone of a text without an offset.
    if (!text.includes("[")) return Temporal.PlainDateTime.from(text).toZonedDateTime("UTC").toInstant();
  } catch {
    // The text is refused below.
  }
  throw new InvalidArgumentError("It must be a date or a time, like 2026-11-22 or 2026-11-22T06:00:00Z.");
}
