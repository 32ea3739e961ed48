import { article } from "./core/article.ts";
import { audio } from "./core/audio.ts";
import { image } from "./core/image.ts";
import { newswire } from "./core/newswire.ts";
import { publisherSite } from "./core/publisher-site.ts";
import { tag } from "./core/tag.ts";
import { schemaCheck, type SchemaCheck, type TypeSchemas } from "./json-schema-type.ts";

/** The schemas of the built-in types, which are generation 0, by name. */
export const coreSchemas: ReadonlyMap<string, TypeSchemas> = new Map([
  ["core/newswire", newswire],
  ["core/article", article],
  ["core/image", image],
  ["core/audio", audio],
  ["core/tag", tag],
  ["core/publisher-site", publisherSite],
]);

/** Checks of generation 0 of the six types that every tenant has unless it defines them anew. */
export const coreChecks: ReadonlyMap<string, SchemaCheck> = new Map(
  coreSchemas.entries().map(([name, schemas]) => [name, schemaCheck(schemas)]),
);
