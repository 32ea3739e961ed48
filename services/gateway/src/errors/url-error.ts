import { describeFault } from "@vidimus/kit/schema-fault";
import { HttpError } from "./http-error.ts";

/** The members of an ajv error that are used here. */
interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: unknown;
  readonly message?: string;
}

/** INVALID_QUERY for the first fault of a URL, naming the parameter and what is wrong with it. */
export function urlFault(faults: readonly SchemaFault[], part: string): HttpError {
  const [fault] = faults;
  const noun = part === "params" ? "path parameter" : "query parameter";
  return new HttpError("INVALID_QUERY", fault ? `${noun} ${describe(fault)}` : `the ${noun}s are not valid`);
}

function describe({ keyword, instancePath, params, parentSchema, message }: SchemaFault): string {
  if (keyword === "additionalProperties") return `"${String(params.additionalProperty)}" is unknown`;
  if (keyword === "required") return `"${String(params.missingProperty)}" is required`;
  const name = `"${instancePath.slice(1).split("/")[0]}"`;
  if (keyword === "type") return `${name} must be given once`;
  return `${name} ${describeFault({ keyword, params, schema: parentSchema, message })}`;
}
