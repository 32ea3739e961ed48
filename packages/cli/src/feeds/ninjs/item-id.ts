import canonicalize from "canonicalize";
import { createHash } from "node:crypto";
import { Refusal } from "../draft.ts";
import type { JsonObject } from "../../json-object.ts";
import { someText } from "../json.ts";

/**
 * The id of a ninjs item's document: the first 128 bits of SHA-256 over the uri, a line feed and
 * the version, with the bits of a version 4 UUID set. For an item without a version its digest
 * takes the version's place: the hex SHA-256 of its canonical JSON (RFC 8785), so that white space
 * and the order of members do not change the id.
 */
export function itemId(uri: string, item: JsonObject): string {
  const bytes = sha256(`${uri}\n${versionOf(item) ?? digestOf(item)}`).subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The version of an item; some feeds send it as a number. */
export function versionOf({ version }: JsonObject): string | undefined {
  return typeof version === "number" ? String(version) : someText(version);
}

function digestOf(item: JsonObject): string {
  try {
    return sha256(canonicalize(item) ?? "").toString("hex");
  } catch (error) {
    throw new Refusal(`has no canonical form: ${error instanceof Error ? error.message : ""}`, { unmappable: false });
  }
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
