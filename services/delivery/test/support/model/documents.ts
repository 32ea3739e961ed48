import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { GetSignaturesResponseSchema } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { ListSnapshotsResponseSchema } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { createHash } from "node:crypto";
import type { FeedSnapshot, Reference } from "../../../src/domain/payload.ts";
import { snapshotKey, webhookIdOf } from "../../../src/domain/payload.ts";

/** Stands for the service documents in a script: its snapshots, in memory. */
export class ModelDocuments {
  readonly #tenantId: string;
  readonly #snapshots: FeedSnapshot[] = [];
  readonly #turn: (what: string) => Promise<void>;
  readonly #pending = new Set<string>();

  /** @param turn waits for a turn of the script */
  constructor(tenantId: string, turn: (what: string) => Promise<void>) {
    this.#tenantId = tenantId;
    this.#turn = turn;
  }

  get all(): readonly FeedSnapshot[] {
    return this.#snapshots;
  }

  publish(documentId: string): void {
    const sequence = this.#snapshots.filter((each) => each.documentId === documentId).length + 1;
    const bytes = Buffer.from(JSON.stringify({ documentId, sequence }));
    const snapshot = {
      tenantId: this.#tenantId,
      documentId,
      sequence,
      documentType: "core/article",
      version: sequence,
      status: "usable",
      committedAt: new Date(),
      bytes,
      sha256: createHash("sha256").update(bytes).digest(),
      attestation: Buffer.alloc(0),
      isSound: true,
      isPending: true,
      olderPending: [],
    };
    this.#snapshots.push(snapshot);
    this.#pending.add(snapshotKey(snapshot));
  }

  /** Pending snapshots of a document, oldest first. */
  pending(documentId: string): FeedSnapshot[] {
    return this.#snapshots.filter((each) => each.documentId === documentId && this.isPending(each));
  }

  /** @throws Error when no snapshot has this webhook id */
  named(webhookId: string): Reference {
    const found = this.#snapshots.find((each) => webhookIdOf(each) === webhookId);
    if (!found) throw new Error(`${webhookId} is no webhook of a snapshot`);
    return found;
  }

  isPending(reference: Reference): boolean {
    return this.#pending.has(snapshotKey(reference));
  }

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  settle(references: readonly Reference[]): void {
    for (const each of references) this.#pending.delete(snapshotKey(each));
  }

  /** Waits for a turn first, so that other work of a script can run before the answer. */
  async listSnapshots() {
    await this.#turn("listSnapshots");
    const snapshots = this.#snapshots.map(({ tenantId, documentId, sequence, committedAt }) => {
      const reference = { tenantId, documentId, sequence: BigInt(sequence) };
      return { reference, committedAt: timestampFromDate(committedAt) };
    });
    return create(ListSnapshotsResponseSchema, { snapshots });
  }

  async getSignatures() {
    await this.#turn("getSignatures");
    const settled = this.#snapshots.filter((each) => !this.isPending(each));
    const signature = { keyId: "k", statement: "s", value: Buffer.alloc(64) };
    const signatures = settled.map(({ tenantId, documentId, sequence }) => {
      return { reference: { tenantId, documentId, sequence: BigInt(sequence) }, signature };
    });
    return create(GetSignaturesResponseSchema, { signatures });
  }
}
