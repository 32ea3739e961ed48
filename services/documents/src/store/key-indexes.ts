import type { Index } from "@vidimus/kit/mongo/indexes";
import { type KeyName, keyNamed, keyNames } from "../domain/published-reads/publication-keys.ts";

const shapes = {
  // Unique among published documents only, because a tombstone's row has no key columns.
  unique: (name: KeyName): Index => ({ key: { tenantId: 1, type: 1, [name]: 1 }, unique: true }),
  newestFirst: (name: KeyName): Index => ({ key: { tenantId: 1, type: 1, [name]: 1, updatedAt: -1, documentId: -1 } }),
  plain: (name: KeyName): Index => ({ key: { tenantId: 1, [name]: 1 } }),
};

function indexOf(name: KeyName): Index {
  return { ...shapes[keyNamed(name).index](name), partialFilterExpression: { [name]: { $exists: true } } };
}

export const keyIndexes = Object.fromEntries(keyNames.map((name) => [name, indexOf(name)])) as Record<KeyName, Index>;
