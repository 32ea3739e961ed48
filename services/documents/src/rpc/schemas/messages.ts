import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GenerationSummary } from "../../domain/types/schema-generation.ts";

export function toGenerationMessage({ type, generation, createdAt, createdBy }: GenerationSummary) {
  return { type, generation, createdAt: timestampFromDate(createdAt), createdBy };
}
