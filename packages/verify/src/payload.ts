import { type Bytes, indexOf, utf8 } from "./bytes.ts";
import { VerificationError } from "./verification-error.ts";
import type { SnapshotSignature } from "./verify-snapshot.ts";

type Members = Readonly<Record<string, unknown>>;

/** The parsed body of a delivery, not verified. */
export type Payload =
  | { readonly kind: "event"; readonly id: string; readonly type: string; readonly data: unknown }
  | {
      readonly kind: "snapshot";
      readonly id: string;
      readonly type: string;
      readonly data: Members;
      readonly signature: SnapshotSignature;
      readonly snapshot: Members;
      /** The snapshot's bytes exactly as they are in the body. */
      readonly bytes: Bytes;
    };

const snapshotMark = utf8(',"snapshot":');

/** @throws VerificationError `body` when the body is not the JSON of a delivery */
export function parsePayload(body: Bytes): Payload {
  const { id, type, data } = membersOf(parseJson(body), "the body");
  if (typeof id !== "string" || typeof type !== "string") throw malformed("the body has no id and type");
  if (!type.startsWith("snapshot.")) return { kind: "event", id, type, data };
  const members = membersOf(data, "data");
  const { keyId, statement, value } = membersOf(members["signature"], "data.signature");
  if (typeof keyId !== "string" || typeof statement !== "string" || typeof value !== "string") {
    throw malformed("data.signature lacks keyId, statement or value");
  }
  // Not `data.snapshot`, which may be another one in a forged body: only these bytes are signed.
  const bytes = snapshotBytes(body);
  const snapshot = membersOf(parseJson(bytes), "data.snapshot");
  return { kind: "snapshot", id, type, data: members, signature: { keyId, statement, value }, snapshot, bytes };
}

/**
 * The snapshot is the last member of `data`, and `data` the last of the body. The snapshot begins
 * after the first mark: the platform writes everything before it, and no string there has the mark,
 * because quotes in a string are escaped.
 */
function snapshotBytes(body: Bytes): Bytes {
  const mark = indexOf(body, snapshotMark);
  if (mark === -1 || body.at(-1) !== 0x7d || body.at(-2) !== 0x7d)
    throw malformed("the body does not end with a snapshot");
  return body.slice(mark + snapshotMark.length, -2);
}

function parseJson(bytes: Bytes): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw malformed("the body is not JSON");
  }
}

function membersOf(value: unknown, name: string): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed(`${name} is no object`);
  return value as Members;
}

function malformed(message: string): VerificationError {
  return new VerificationError("body", message);
}
