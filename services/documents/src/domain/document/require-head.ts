import { DomainError } from "@vidimus/kit/errors";
import type { Head } from "./document.ts";

export interface HeadReader {
  find(tenantId: string, documentId: string, options?: { signal?: AbortSignal }): Promise<Head | undefined>;
}

export async function requireHead(
  documents: HeadReader,
  tenantId: string,
  documentId: string,
  options: { signal?: AbortSignal } = {},
): Promise<Head> {
  const head = await documents.find(tenantId, documentId, options);
  if (!head) throw new DomainError("not_found", `document ${documentId} does not exist`);
  return head;
}
