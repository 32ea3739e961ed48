import { type AnySchemaObject, Ajv2020, type FuncKeywordDefinition, type ValidateFunction } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { canonicalJson } from "../json/canonical-json.ts";
import type { JsonValue } from "../json/json-value.ts";
import { addFormats } from "./formats.ts";

/** How a schema is compiled. */
interface CompileOptions {
  /** Goes on after the first fault. */
  allErrors?: boolean;
  /**
   * Checks the schema itself, and refuses keywords that no specification knows, so that a slip of
   * the pen does not mean "anything goes".
   */
  strict?: boolean;
}

/**
 * Compiles a JSON Schema (2020-12), with the formats of `formats.ts`. Since tenants write schemas,
 * no keyword takes more than linear time: patterns are RE2 (no lookaround, no back references), and
 * `uniqueItems` compares canonical forms.
 *
 * @throws Error that names the schema's fault
 */
export function compileSchema(schema: AnySchemaObject, options: CompileOptions = {}): ValidateFunction {
  const { allErrors = false, strict = false } = options;
  const ajv = new Ajv2020({
    allErrors,
    strictSchema: strict,
    // A schema that is kept was checked when it was added, and checking it again compiles the
    // schema of schemas: 20 ms.
    validateSchema: strict,
    strictTypes: false,
    strictTuples: false,
    // A copy at each reference made 10 s and 1.3 GB of compiling 95 KiB.
    inlineRefs: false,
    logger: false,
    code: { regExp, process: appendFaults },
  });
  addFormats(ajv);
  ajv.removeKeyword("uniqueItems").addKeyword(uniqueItems);
  return ajv.compile(schema);
}

/**
 * Ajv's code copies all faults found so far at each reference: the 10,000 of a document of 32 KB took
 * 1.2 s. The validator that found them refers to the list and nothing else does, so they can be
 * appended to it.
 */
function appendFaults(code: string): string {
  return code.replaceAll(/vErrors\.concat\(([\w.$]+)\)/g, "($1.forEach((fault) => vErrors.push(fault)), vErrors)");
}

/** `code` is read only where validators are written out as source, which is not done here. */
const regExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: "RE2JS.compile" });

const uniqueItems: FuncKeywordDefinition = {
  keyword: "uniqueItems",
  type: "array",
  schemaType: "boolean",
  validate: (wanted: boolean, items: JsonValue[]) =>
    !wanted || new Set(items.map((item) => canonicalJson(item).toString())).size === items.length,
  error: { message: "must NOT have duplicate items" },
};
