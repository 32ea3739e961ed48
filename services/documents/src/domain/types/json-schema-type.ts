import type { Violation } from "@vidimus/kit/errors";
import { type AnySchemaObject, Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { DocumentValue } from "../document/assemble-document.ts";
import { jsonPointer } from "../json/json-value.ts";
import type { DocumentType } from "./document-type.ts";

/** JSON Schemas (2020-12) of one generation of a type, over `{title, meta, content, links}`. */
export interface TypeSchemas {
  /** Checked on intake and on every edit. */
  shape: AnySchemaObject;
  /** Checked, beside `shape`, when a document is published. */
  complete: AnySchemaObject;
}

/** Most violations that are reported. */
const violationsMax = 20;

/** Makes a type of its schemas, which are compiled on first use. */
export function jsonSchemaType(name: string, generation: number, schemas: TypeSchemas): DocumentType {
  const checkShape = lazyCheck(schemas.shape);
  const checkComplete = lazyCheck(schemas.complete);
  return {
    name,
    generation,
    checkShape,
    checkPublishable: (document) => [...checkShape(document), ...checkComplete(document)].slice(0, violationsMax),
  };
}

/** Compiles a schema, to see whether it can be: throws an Error that names its fault. */
export function compileSchema(schema: AnySchemaObject, options: { allErrors?: boolean } = {}): ValidateFunction {
  const ajv = new Ajv2020({ allErrors: false, strict: false, validateSchema: true, logger: false, ...options });
  formats.default(ajv);
  ajv.addFormat("language-tag", /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/);
  ajv.addFormat("slug", { validate: (text: string) => /^[^\s/?#%\p{C}]{1,200}$/u.test(text) });
  return ajv.compile(schema);
}

/**
 * The first pass stops at the first fault, so that a large document full of faults cannot make an error for each; only
 * a small one is gone through again for all of them.
 */
function lazyCheck(schema: AnySchemaObject): (document: DocumentValue) => Violation[] {
  let first: ValidateFunction | undefined;
  let all: ValidateFunction | undefined;
  return (document) => {
    first ??= compileSchema(schema);
    if (first(document)) return [];
    if (JSON.stringify(document).length > 65_536) return toViolations(first.errors);
    all ??= compileSchema(schema, { allErrors: true });
    return all(document) ? [] : toViolations(all.errors);
  };
}

function toViolations(errors: readonly ErrorObject[] | null | undefined): Violation[] {
  const violations = (errors ?? []).filter(({ keyword }) => !wrappers.has(keyword)).map(toViolation);
  return violations.slice(0, violationsMax);
}

/** Keywords that only say that something inside them failed. */
const wrappers: ReadonlySet<string> = new Set(["if", "allOf"]);

function toViolation({ instancePath, keyword, params, message = "is not valid" }: ErrorObject): Violation {
  const missing: unknown = keyword === "required" ? params["missingProperty"] : undefined;
  if (typeof missing === "string") return { pointer: instancePath + jsonPointer([missing]), message: "is required" };
  return { pointer: instancePath.toWellFormed(), message };
}
