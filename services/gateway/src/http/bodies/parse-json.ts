import { describeFault } from "@vidimus/kit/schema-fault";
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { HttpError } from "../../errors/http-error.ts";

/**
 * Members at the top level of a body that are ignored, because the tenant follows from the API key.
 */
const tenantIds = new Set(["tenant", "tenantId", "tenant_id"]);

/** A fault as the validator reports it. */
interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  /** Pointer, behind `#`, to the schema that contains the keyword. */
  readonly schemaPath: string;
  readonly message: string;
  readonly params: object;
}

/**
 * Makes the parser of a small JSON object with the given schema. The parser throws INVALID_PAYLOAD
 * with the first faults, at most eight, and their pointers.
 */
export function jsonParser<Schema extends TSchema>(schema: Schema): (body: Buffer) => Static<Schema> {
  const validator = Compile(schema);
  return (body) => {
    const value = withoutTenantIds(parse(body));
    if (validator.Check(value)) return value;
    const faults = validator.Errors(value);
    // The fault of an unknown member is skipped, because the object around it reports the same
    // fault, with the known names; but not when eight such faults have left no fault for the object.
    const told = faults.filter(({ keyword }) => keyword !== "boolean");
    const shown = told.length > 0 ? told : faults.slice(0, 1).map(ofUnknownMember);
    const details = shown.map((fault) => toDetail(fault, schema));
    const [first] = details;
    const message = first ? `${first.pointer.slice(1)} ${first.message}`.trim() : "the body is not valid";
    throw new HttpError("INVALID_PAYLOAD", message, { details });
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new HttpError("INVALID_PAYLOAD", "the body is not JSON in UTF-8");
  }
}

function withoutTenantIds(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !tenantIds.has(name)));
}

/** The fault of an unknown member as the object around it reports it. */
function ofUnknownMember({ instancePath, schemaPath, message }: Fault): Fault {
  const nameAt = instancePath.lastIndexOf("/") + 1;
  const additionalProperty = instancePath.slice(nameAt).replaceAll("~1", "/").replaceAll("~0", "~");
  return {
    keyword: "additionalProperties",
    instancePath: instancePath.slice(0, nameAt - 1),
    schemaPath: schemaPath.replace(/\/additionalProperties$/, ""),
    message,
    params: { additionalProperty },
  };
}

function toDetail(fault: Fault, schema: TSchema): { pointer: string; message: string } {
  const { keyword, params, message, instancePath, schemaPath } = fault;
  return {
    pointer: instancePath.toWellFormed(),
    message: describeFault({ keyword, params, message, schema: schemaAt(schema, schemaPath) }),
  };
}

/** The part of a schema at a path; names in it must not contain a slash. */
function schemaAt(schema: TSchema, path: string): unknown {
  const names = path.split("/").slice(1);
  return names.reduce<unknown>(
    (part, name) => (typeof part === "object" && part !== null ? Reflect.get(part, name) : undefined),
    schema,
  );
}
