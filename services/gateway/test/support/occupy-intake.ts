import { vi } from "vitest";
import type { FakeDocuments } from "./fake-documents.ts";

/**
 * Lets calls be made until the gateway sends no more, so that documents which arrive now go out
 * together. A call that is late lets the next one go, up to eight of a tenant that is known to be
 * late.
 *
 * @param post creates one document
 * @returns a function that lets the calls be answered, and resolves when they are; after it
 *   `documents.batches` has what went out since
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
