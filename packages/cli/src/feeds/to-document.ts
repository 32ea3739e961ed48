import { parseUuid } from "@vidimus/kit/ids";
import { Refusal } from "./draft.ts";
import type { JsonObject } from "../json-object.ts";
import { someText } from "./json.ts";
import { toDraft } from "./ninjs/to-draft.ts";

interface FeedDocument {
  readonly id: string;
  readonly json: string;
}

/**
 * Turns a member of a feed into a document. A wrapped document (`payload`) is refused. Any other
 * member with an `id`, or with a type that has a slash, is a document, and is used unchanged. The
 * rest is read as ninjs 3.0.
 *
 * @throws Refusal for a wrapped document, for a document whose `id` is missing or no UUID, and for
 * an item that has no `uri` or cannot be mapped
 */
export function toDocument(value: JsonObject): FeedDocument {
  if ("payload" in value) throw damaged("is a wrapped document, which has no id: a repeat would make it again");
  const id = typeof value["id"] === "string" ? value["id"] : undefined;
  if (id !== undefined || isOwnType(value["type"])) return own(value, id);
  if (someText(value["uri"]) === undefined) throw damaged("is neither a document (no id) nor a ninjs item (no uri)");
  const draft = toDraft(value);
  return { id: draft.id, json: JSON.stringify(draft) };
}

function own(value: JsonObject, given: string | undefined): FeedDocument {
  const id = given && parseUuid(given);
  if (!id) throw damaged("is a document without an id of the form 8-4-4-4-12 hex");
  return { id, json: JSON.stringify(value) };
}

/** Types of the platform have two parts (`core/article`), those of ninjs one. */
function isOwnType(type: unknown): boolean {
  return typeof type === "string" && type.includes("/");
}

function damaged(reason: string): Refusal {
  return new Refusal(reason, { unmappable: false });
}
