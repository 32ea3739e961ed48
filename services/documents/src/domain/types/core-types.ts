import { article } from "./core/article.ts";
import { audio } from "./core/audio.ts";
import { image } from "./core/image.ts";
import { newswire } from "./core/newswire.ts";
import { publisherSite } from "./core/publisher-site.ts";
import { tag } from "./core/tag.ts";
import { schemaCheck, type SchemaCheck, type TypeSchemas } from "./json-schema-type.ts";

/** From type name to the schemas of a built-in type. They are generation 0 of the type. */
export const coreSchemas: ReadonlyMap<string, TypeSchemas> = new Map([
  ["core/newswire", newswire],
  ["core/article", article],
  ["core/image", image],
  ["core/audio", audio],
  ["core/tag", tag],
  ["core/publisher-site", publisherSite],
]);

/**
 * From type name to the check of generation 0. Every tenant has these types; a tenant that defines
 * one anew gets higher generations of it.
 */
export const coreChecks: ReadonlyMap<string, SchemaCheck> = new Map(
  coreSchemas.entries().map(([name, schemas]) => [name, schemaCheck(schemas)]),
);
