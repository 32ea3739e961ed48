import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { VersionSummary } from "../domain/document/revision.ts";

/** A version as its message. */
export function toDocumentVersion({ version, status, title, schemaGeneration, writtenAt, writtenBy }: VersionSummary) {
  return {
    version: BigInt(version),
    status,
    title,
    schemaGeneration,
    writtenAt: timestampFromDate(writtenAt),
    writtenBy: { actor: writtenBy.actor, role: writtenBy.role },
  };
}
