import { duplicatePositions } from "@vidimus/kit/mongo-errors";
import type { Collection, Db } from "mongodb";
import type { Head, NewDocument } from "../domain/document/document.ts";
import type { DocumentReference, Intake, IntakeStore } from "../domain/intake/take-in.ts";
import { fromHeadRow, toHeadRow } from "./head-row.ts";
import type { HeadRow } from "./rows.ts";

const intakeColumns = { _id: 0, tenantId: 1, documentId: 1, intakeDigest: 1, intakeToken: 1 } as const;

/** Keeps the head of every document. */
export class DocumentStore implements IntakeStore {
  readonly #heads: Collection<HeadRow>;

  constructor(db: Db) {
    this.#heads = db.collection("heads");
  }

  async ensureIndexes(): Promise<void> {
    await this.#heads.createIndex({ tenantId: 1, documentId: 1 }, { unique: true });
  }

  /** Stores all documents whose id is free, in one write, and answers the positions of those whose id is not. */
  async insert(documents: readonly NewDocument[]): Promise<Set<number>> {
    try {
      await this.#heads.insertMany(documents.map(toHeadRow), { ordered: false });
      return new Set();
    } catch (error) {
      return duplicatePositions(error);
    }
  }

  /** The intakes behind these ids, as far as there are any. */
  async findIntakes(references: readonly DocumentReference[]): Promise<Intake[]> {
    const filter = { $or: references.map(({ tenantId, documentId }) => ({ tenantId, documentId })) };
    const rows = await this.#heads.find(filter).project<IntakeRow>(intakeColumns).toArray();
    return rows.map(({ intakeDigest, ...row }) => Object.assign(row, { intakeDigest: intakeDigest.value() }));
  }

  /** The head of a document. */
  async find(tenantId: string, documentId: string, options: { signal?: AbortSignal } = {}): Promise<Head | undefined> {
    const row = await this.#heads.findOne({ tenantId, documentId }, { ...options, projection: { _id: 0 } });
    return row ? fromHeadRow(row) : undefined;
  }
}

type IntakeRow = Pick<HeadRow, "tenantId" | "documentId" | "intakeDigest" | "intakeToken">;
