import type { Violation } from "@vidimus/kit/errors";
import { createHash, randomUUID } from "node:crypto";
import { violationsBelow } from "../document/invalid-document.ts";
import { throwMissing } from "../document/throw-missing.ts";
import { openEdit } from "./open-edit.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { parseJson } from "../json/parse-json.ts";
import { openEnvelope } from "./open-envelope.ts";
import { type ReadDocument, readMembers } from "./read-members.ts";

export type DraftForm =
  /**
   * A create request, flat or wrapped. The token identifies the attempt; without one, "", the
   * request must be flat.
   */
  | { readonly as: "create"; readonly tenantId: string; readonly intakeToken: string }
  /** A create request that may have no id. */
  | { readonly as: "dryRun" }
  /** The whole new content of a document of this type. */
  | { readonly as: "edit"; readonly documentId: string; readonly type: string };

/** What can be read from a request without the schema of the document's type. */
export interface Draft {
  /** Lowercase UUID. */
  readonly documentId: string;
  /** JSON pointer to the members in the request: "" or "/payload". */
  readonly pointer: string;
  /** Pointers are relative to the members. */
  readonly violations: readonly Violation[];
  /** Absent when there are violations. */
  readonly document?: ReadDocument;
}

/**
 * Reads the JSON of one request, on the event loop or in a thread. Rejects with the errors of
 * `readDraft`; in a thread also as `invalid` when the document takes too much time or memory, as
 * `unavailable` when the thread fails, and with the reason of `signal`.
 */
export type DraftReader = (tenantId: string, json: Uint8Array, form: DraftForm, signal?: AbortSignal) => Promise<Draft>;

/**
 * Reads a request without checking it against its type.
 *
 * @throws DomainError `too_large` or `invalid` when the JSON, its form or the id is wrong
 */
export function readDraft(json: Uint8Array, form: DraftForm): Draft {
  const { documentId, members, pointer } = openDraft(parseJson(json), form);
  const reading = readMembers(members);
  if ("violations" in reading) return { documentId, pointer, violations: reading.violations };
  return { documentId, pointer, violations: [], document: reading.document };
}

/** The violations with pointers relative to the request, no longer to its members. */
export function draftViolations({ pointer }: Draft, violations: readonly Violation[]): Violation[] {
  return violationsBelow(pointer, violations);
}

function openDraft(body: JsonValue, form: DraftForm): { documentId: string; members: JsonObject; pointer: string } {
  switch (form.as) {
    case "create":
      return openEnvelope(body, () => mintId(form));
    case "dryRun":
      return openEnvelope(withId(body), randomUUID);
    case "edit":
      return {
        documentId: form.documentId,
        members: { type: form.type, ...openEdit(body, form.documentId) },
        pointer: "",
      };
    default:
      return form satisfies never;
  }
}

/** Adds an id to a flat document without one, so that the document passes `openEnvelope`. */
function withId(body: JsonValue): JsonValue {
  const isFlat = isJsonObject(body) && !Object.hasOwn(body, "payload");
  return isFlat && !Object.hasOwn(body, "id") ? { ...body, id: randomUUID() } : body;
}

/** Derives an id from the token, so that a repeated attempt finds the document of the first one. */
function mintId({ tenantId, intakeToken }: { tenantId: string; intakeToken: string }): string {
  if (intakeToken === "") throwMissing("draft.intake_token");
  const bytes = createHash("sha256").update(`${tenantId}\n${intakeToken}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
