import { DomainError } from "@vidimus/kit/errors";
import { isUtf8 } from "node:buffer";
import { isObject, tenantMembers } from "../parse-phrase.ts";
import { type ImportRows, refusedImport } from "./import-rows.ts";

/** Reads `{"phrases":[…]}` or a bare array. Throws `invalid` for anything else. */
export function readJson(bytes: Uint8Array): ImportRows {
  const value = parseJson(bytes);
  if (Array.isArray(value)) return { rows: value };
  if (!isObject(value)) throw refusedImport("the body must be an array of phrases, or an object with one in phrases");
  const unknown = Object.keys(value).find((name) => name !== "phrases" && !tenantMembers.has(name));
  if (unknown !== undefined) throw refusedImport(`the member "${unknown.toWellFormed().slice(0, 40)}" is unknown`);
  if (!Array.isArray(value.phrases)) throw refusedImport("phrases must be an array");
  return { rows: value.phrases };
}

/** Parses JSON of a caller. Throws `invalid` when it is none, or not UTF-8. */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new DomainError("invalid", "the body is not UTF-8");
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DomainError("invalid", `the body is not JSON: ${error.message.toWellFormed().slice(0, 200)}`);
  }
}
