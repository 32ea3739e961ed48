import type { Violation } from "@vidimus/kit/errors";
import { createHash, randomUUID } from "node:crypto";
import { violationsBelow } from "../document/invalid-document.ts";
import { openEdit } from "./open-edit.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { parseJson } from "../json/parse-json.ts";
import { openEnvelope } from "./open-envelope.ts";
import { type ReadDocument, readMembers } from "./read-members.ts";

/** What a request's JSON is read as. */
export type DraftForm =
  /**
   * A create request, flat or wrapped; the token names the attempt and is "" when the caller names
   * none.
   */
  | { readonly as: "create"; readonly tenantId: string; readonly intakeToken: string }
  /** A create request that may lack an id. */
  | { readonly as: "dryRun" }
  /** The whole new content of a document of that type. */
  | { readonly as: "edit"; readonly documentId: string; readonly type: string };

/** What a request's bytes alone tell. */
export interface Draft {
  /** Lowercase UUID. */
  readonly documentId: string;
  /** JSON pointer of the members in the request: "" or "/payload". */
  readonly pointer: string;
  /** Of the members, relative to them. */
  readonly violations: readonly Violation[];
  /** Absent when there are violations. */
  readonly document?: ReadDocument;
}

/** Reads the JSON of one request, wherever that is done; rejects as `readDraft` throws. */
export type DraftReader = (tenantId: string, json: Uint8Array, form: DraftForm, signal?: AbortSignal) => Promise<Draft>;

/**
 * Reads a request: its JSON, its envelope and its members. What its type asks for is checked
 * elsewhere.
 *
 * @throws DomainError `too_large` or `invalid`, when the document cannot even be named
 */
export function readDraft(json: Uint8Array, form: DraftForm): Draft {
  const { documentId, members, pointer } = openDraft(parseJson(json), form);
  const reading = readMembers(members);
  if ("violations" in reading) return { documentId, pointer, violations: reading.violations };
  return { documentId, pointer, violations: [], document: reading.document };
}

/** The violations of a draft, seen from its request. */
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

/** Gives a flat document without an id one, so that a draft can be checked before it has its own. */
function withId(body: JsonValue): JsonValue {
  const isFlat = isJsonObject(body) && !Object.hasOwn(body, "payload");
  return isFlat && !Object.hasOwn(body, "id") ? { ...body, id: randomUUID() } : body;
}

/**
 * With a token the id follows from it, so that a repeated attempt finds the document that the first
 * one made.
 */
function mintId({ tenantId, intakeToken }: { tenantId: string; intakeToken: string }): string {
  if (intakeToken === "") return randomUUID();
  const bytes = createHash("sha256").update(`${tenantId}\n${intakeToken}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
