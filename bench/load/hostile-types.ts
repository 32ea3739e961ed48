import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import type { AttackTarget } from "./attack-form.ts";

const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "bench" } };

/**
 * The schema of a type whose source is a URL; a backtracking pattern for URLs takes quadratic time.
 */
export const urlSchema = {
  type: "object",
  properties: { meta: { type: "object", properties: { source: { type: "string", format: "url" } } } },
};

/**
 * A schema of `depth` definitions, each referring twice to the next: a naive check visits 2^depth.
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
 * Adds schemas as the newest generations of types of the tenant. Returns `type accepted` or `type
 * refused` for each.
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
