import { type AnySchemaObject, Ajv2020, type FuncKeywordDefinition, type ValidateFunction } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { canonicalJson } from "../json/canonical-json.ts";
import type { JsonValue } from "../json/json-value.ts";
import { addFormats } from "./formats.ts";

interface CompileOptions {
  /** Reports every fault: of a large document that may be one error object for each of its values. */
  allErrors?: boolean;
  /**
   * Checks the schema itself, and refuses unknown keywords, because a misspelled one would accept
   * everything.
   */
  strict?: boolean;
}

/**
 * Compiles a JSON Schema (2020-12) with the formats of `formats.ts`. Tenants write schemas, so
 * every keyword must take linear time: patterns are RE2 (no lookaround, no back references), and
 * `uniqueItems` compares canonical forms.
 *
 * @throws Error that names the schema's fault
 */
export function compileSchema(schema: AnySchemaObject, options: CompileOptions = {}): ValidateFunction {
  const { allErrors = false, strict = false } = options;
  const ajv = new Ajv2020({
    allErrors,
    strictSchema: strict,
    // Stored schemas were checked when they were added; checking one again compiles the
    // meta-schema, which takes 20 ms.
    validateSchema: strict,
    strictTypes: false,
    strictTuples: false,
    // Inlining copies a schema at each reference: 95 KiB took 10 s and 1.3 GB to compile.
    inlineRefs: false,
    logger: false,
    code: { regExp, process: appendFaults },
  });
  addFormats(ajv);
  ajv.removeKeyword("uniqueItems").addKeyword(uniqueItems);
  return ajv.compile(schema);
}

/**
 * Ajv's code copies all faults found so far at each reference: 10,000 faults of a document of 32 KB
 * took 1.2 s. Nothing else reads the list that is copied, so new faults can be appended to it
 * instead.
 */
function appendFaults(code: string): string {
  return code.replaceAll(/vErrors\.concat\(([\w.$]+)\)/g, "($1.forEach((fault) => vErrors.push(fault)), vErrors)");
}

/** Ajv uses `code` only when it writes validators as source code, which is not done here. */
const regExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: "RE2JS.compile" });

const uniqueItems: FuncKeywordDefinition = {
  keyword: "uniqueItems",
  type: "array",
  schemaType: "boolean",
  validate: (wanted: boolean, items: JsonValue[]) =>
    !wanted || new Set(items.map((item) => canonicalJson(item).toString())).size === items.length,
  error: { message: "must NOT have duplicate items" },
};
