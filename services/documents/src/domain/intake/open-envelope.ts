import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/ids";
import { isJsonObject, jsonPointer, type JsonObject, type JsonValue } from "../json/json-value.ts";

/** The id of a create request, and its unchecked members. */
export interface Envelope {
  /** Lowercase UUID. */
  documentId: string;
  members: JsonObject;
  /** JSON pointer to the members in the request: "" or "/payload". */
  pointer: string;
}

/** Names under which callers send a tenant; ignored, because the RPC call names the tenant. */
const tenantMembers: ReadonlySet<string> = new Set(["tenant", "tenantId", "tenant_id"]);

/** `updated_at` is ignored, too, because the platform sets it when it publishes a document. */
const ignoredMembers: ReadonlySet<string> = new Set([...tenantMembers, "updated_at"]);

/**
 * Opens a create request of either form: flat with the caller's id, or `{version: 1, payload}`,
 * which gets its id from `mintId`.
 *
 * @throws DomainError `invalid` when the form or the id is wrong
 */
export function openEnvelope(body: JsonValue, mintId: () => string): Envelope {
  if (!isJsonObject(body)) throw invalid("", "the body must be a JSON object");
  if (Object.hasOwn(body, "payload")) return openWrapped(body, mintId);
  if (!Object.hasOwn(body, "id")) throw invalid("/id", "id is required");
  const documentId = typeof body["id"] === "string" ? parseUuid(body["id"]) : undefined;
  if (documentId === undefined) throw invalid("/id", "id must be a UUID");
  const { id: _, ...members } = body;
  return { documentId, members: withoutIgnoredMembers(members), pointer: "" };
}

function openWrapped(body: JsonObject, mintId: () => string): Envelope {
  const { version, payload, ...rest } = withoutMembers(body, tenantMembers);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw invalid(jsonPointer([unknown]), `"${unknown}" is not a member of the wrapped form, {version, payload}`);
  }
  if (version !== 1) throw invalid("/version", "version must be 1");
  if (!isJsonObject(payload)) throw invalid("/payload", "payload must be an object");
  if (Object.hasOwn(payload, "id")) {
    throw invalid("/payload/id", "payload must have no id: the platform gives one in the wrapped form");
  }
  return { documentId: mintId(), members: withoutIgnoredMembers(payload), pointer: "/payload" };
}

export function withoutIgnoredMembers(members: JsonObject): JsonObject {
  return withoutMembers(members, ignoredMembers);
}

function withoutMembers(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)));
}

function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", message, { violations: [{ pointer, message }] });
}
