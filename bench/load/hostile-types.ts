import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import type { AttackTarget } from "./attack-form.ts";

const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "bench" } };

/**
 * Requires that `meta.source` is a URL. A backtracking pattern for URLs takes time quadratic in the
 * length of the source.
 */
export const urlSchema = {
  type: "object",
  properties: { meta: { type: "object", properties: { source: { type: "string", format: "url" } } } },
};

/**
 * A schema in which `depth` definitions each refer twice to the next, so that a naive check visits
 * the last definition 2^depth times.
 */
export function doublingSchema(depth: number): object {
  const definitions: Record<string, object> = { [`d${depth}`]: { type: "object" } };
  for (let level = 0; level < depth; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    definitions[`d${level}`] = { allOf: [next, next] };
  }
  return { type: "object", properties: { meta: { $ref: "#/$defs/d0" } }, $defs: definitions };
}

/**
 * Adds each schema as the tenant's first generation of its type. Returns `type accepted` or `type
 * refused` for each; adds and returns none when `documents` is undefined.
 */
export async function replaceType(
  { documents, tenantId }: AttackTarget,
  schemas: Readonly<Record<string, object>>,
): Promise<string[]> {
  if (documents === undefined) return [];
  using client = openRpcClient(SchemaService, { target: documents });
  const outcomes: string[] = [];
  for (const [type, schema] of Object.entries(schemas)) {
    const shapeSchemaJson = Buffer.from(JSON.stringify(schema));
    const request = { tenantId, type, expectedGeneration: 0, shapeSchemaJson };
    const created = client.createSchemaGeneration(request, asAdmin);
    outcomes.push(
      await created.then(
        () => "type accepted",
        () => "type refused",
      ),
    );
  }
  return outcomes;
}
