import type { Violation } from "@vidimus/kit/errors";
import { describeFault } from "@vidimus/kit/schema-fault";
import type { AnySchemaObject, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import type { DocumentValue } from "../document/assemble-document.ts";
import { jsonPointer } from "../json/json-value.ts";
import { violationsMax } from "../document/invalid-document.ts";
import { compileSchema } from "./compile-schema.ts";
import type { Tier } from "./document-type.ts";
import { formatRules } from "./formats.ts";

/** JSON Schemas (2020-12) of one generation of a type, over `{title, meta, content, links}`. */
export interface TypeSchemas {
  /** Checked on intake and on every edit. */
  shape: AnySchemaObject;
  /** Checked, beside `shape`, when a document is published. */
  complete: AnySchemaObject;
}

/**
 * Called after each step of a job, such as reading a document or compiling a schema, with all
 * violations found so far if the step found any. A call without violations takes none back.
 */
export type Progress = (found?: Violation[]) => void;

/** Checks a document against the schemas of a type. Returns at most 20 violations. */
export type SchemaCheck = (document: DocumentValue, tier: Tier, progress?: Progress) => Violation[];

/** Makes a check of a type's schemas. The check compiles each schema on its first use. */
export function schemaCheck(schemas: TypeSchemas): SchemaCheck {
  const checkShape = lazyCheck(schemas.shape);
  const checkComplete = lazyCheck(schemas.complete);
  return (document, tier, progress = () => {}) => {
    const shape = checkShape(document, progress);
    if (tier === "shape") return shape;
    progress(shape);
    const complete = checkComplete(document, (found) => progress(found && shape.concat(found)));
    return shape.concat(complete).slice(0, violationsMax);
  };
}

/**
 * The first pass stops at the first fault, so that a large document full of faults does not create
 * an error for each; only a small document is checked again for all faults.
 */
function lazyCheck(schema: AnySchemaObject): (document: DocumentValue, progress: Progress) => Violation[] {
  let first: ValidateFunction | undefined;
  let all: ValidateFunction | undefined;
  return (document, progress) => {
    try {
      first ??= compileSchema(schema);
      progress();
      if (first(document)) return [];
      const found = toViolations(first.errors);
      if (JSON.stringify(document).length > 65_536) return found;
      progress(found);
      all ??= compileSchema(schema, { allErrors: true });
      progress();
      return all(document) ? [] : toViolations(all.errors);
    } catch (error) {
      if (error instanceof RangeError) return [endless];
      throw error;
    }
  };
}

const endless: Violation = {
  pointer: "",
  message: "cannot be checked: the schema of its type refers to itself for ever",
};

function toViolations(errors: readonly ErrorObject[] | null | undefined): Violation[] {
  const violations = (errors ?? []).filter(({ keyword }) => !wrappers.has(keyword)).map(toViolation);
  return violations.slice(0, violationsMax);
}

/** Keywords whose error only says that a schema inside them failed. */
const wrappers: ReadonlySet<string> = new Set(["if", "allOf"]);

function toViolation({ instancePath, keyword, params, message = "is not valid" }: ErrorObject): Violation {
  const missing: unknown = keyword === "required" ? params["missingProperty"] : undefined;
  if (typeof missing === "string") return { pointer: instancePath + jsonPointer([missing]), message: "is required" };
  const rule = keyword === "format" ? formatRules.get(String(params["format"])) : undefined;
  const words = rule ? `must be ${rule}` : describeFault({ keyword, params, message });
  return { pointer: instancePath.toWellFormed(), message: words };
}
