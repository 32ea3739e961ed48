import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GenerationSummary } from "../../domain/types/schema-generation.ts";

/** A generation without its schemas, as its message. */
export function toGenerationMessage({ type, generation, createdAt, createdBy }: GenerationSummary) {
  return { type, generation, createdAt: timestampFromDate(createdAt), createdBy };
}
