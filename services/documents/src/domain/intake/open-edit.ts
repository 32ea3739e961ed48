import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/ids";
import { withoutIgnoredMembers } from "./open-envelope.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";

/**
 * The members of an edit, without `id` and the ignored ones.
 *
 * @throws DomainError `invalid` when the body is no object, or has another id than the document's
 */
export function openEdit(body: JsonValue, documentId: string): JsonObject {
  if (!isJsonObject(body)) {
    const message = "the body must be a JSON object";
    throw new DomainError("invalid", message, { violations: [{ pointer: "", message }] });
  }
  const { id, ...members } = body;
  if (id !== undefined && (typeof id !== "string" || parseUuid(id) !== documentId)) {
    const message = `id must be ${documentId}, or be left out`;
    throw new DomainError("invalid", message, { violations: [{ pointer: "/id", message }] });
  }
  return withoutIgnoredMembers(members);
}
