import { vi } from "vitest";
import type { FakeDocuments } from "./fake-documents.ts";

/**
 * Creates documents until the gateway makes no further call to the documents service, so that
 * documents which arrive afterwards share a batch, with the last of these. The calls stay
 * unanswered, and the gateway limits how many of a tenant may run.
 *
 * @param post creates one document
 * @returns a function that lets the documents service answer these calls, and resolves when all of
 *   the documents are created; `documents.batches` then contains only the later batches
 */
export async function occupyIntake(
  documents: FakeDocuments,
  post: () => Promise<unknown>,
): Promise<() => Promise<void>> {
  const gate = Promise.withResolvers<void>();
  documents.batches.length = 0;
  documents.beforeWork = () => gate.promise;
  const posts: Promise<unknown>[] = [];
  do {
    posts.push(post());
    await vi
      .waitUntil(() => documents.batches.length === posts.length, { timeout: 1_000, interval: 5 })
      .catch(() => {});
  } while (documents.batches.length === posts.length);
  const occupied = documents.batches.length;
  return async () => {
    gate.resolve();
    await Promise.all(posts);
    documents.batches.splice(0, occupied);
  };
}
