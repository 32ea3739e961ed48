import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** A timestamp in ISO 8601 with milliseconds and `Z`; null for undefined. */
export function isoTime(timestamp: Timestamp | undefined): string | null {
  return timestamp ? timestampDate(timestamp).toISOString() : null;
}
