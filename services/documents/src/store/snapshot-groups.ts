import type { SnapshotKey } from "../domain/snapshots/snapshot-feed.ts";

/** Snapshots of one tenant with the same sequence, each of another document. */
export interface SnapshotGroup<Member extends SnapshotKey> {
  readonly filter: {
    readonly tenantId: string;
    readonly sequence: number;
    readonly documentId: { readonly $in: string[] };
  };
  readonly members: readonly Member[];
}

/**
 * Groups snapshots that one statement can update: most snapshots that are settled together are
 * their documents' first, and a statement for each would cost mongod three times as much. Of
 * several members with the same key the last one counts.
 */
export function groupSnapshots<Member extends SnapshotKey>(members: readonly Member[]): SnapshotGroup<Member>[] {
  const groups = Map.groupBy(members, ({ tenantId, sequence }) => `${sequence} ${tenantId}`);
  return Array.from(groups.values()).flatMap((group) => {
    const distinct = [...new Map(group.map((member) => [member.documentId, member])).values()];
    const [first] = distinct;
    if (!first) return [];
    const { tenantId, sequence } = first;
    const $in = distinct.map(({ documentId }) => documentId);
    return [{ filter: { tenantId, sequence, documentId: { $in } }, members: distinct }];
  });
}
