import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { Binary, type Collection, type Db } from "mongodb";
import type { GenerationSummary, SchemaGeneration } from "../domain/types/schema-generation.ts";
import type { SchemaRow } from "./rows.ts";

const summaryColumns = { _id: 0, tenantId: 1, type: 1, generation: 1, createdAt: 1, createdBy: 1 } as const;

export class SchemaStore {
  static readonly indexes = {
    schemas: { generation: { key: { tenantId: 1, type: 1, generation: 1 }, unique: true } },
  } as const satisfies DatabaseIndexes;
  readonly #schemas: Collection<SchemaRow>;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(db: Db, audit: Pick<AuditLog, "transact">) {
    this.#schemas = db.collection("schemas");
    this.#audit = audit;
  }

  /** Stores a generation. Returns false when that number exists already. */
  async insert({ shape, complete, ...summary }: SchemaGeneration, by: AuditAuthor): Promise<boolean> {
    const row = { ...summary, shape: new Binary(shape), complete: new Binary(complete) };
    const { tenantId, type, generation } = summary;
    const entry = { tenantId, action: "create_schema_generation", subject: type, detail: { generation } };
    try {
      await this.#audit.transact(async (session, record) => {
        await this.#schemas.insertOne({ ...row }, { session });
        await record(by, entry);
      });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** From type to newest generation, for all of a tenant's own types. Reads only the index. */
  async newest(tenantId: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#schemas
      .find({ tenantId }, { maxTimeMS: 5_000 })
      .sort({ type: 1, generation: 1 })
      .project<Pick<SchemaRow, "type" | "generation">>({ _id: 0, type: 1, generation: 1 })
      .toArray();
    return new Map(rows.map(({ type, generation }) => [type, generation]));
  }

  async find(tenantId: string, type: string, generation: number): Promise<SchemaGeneration | undefined> {
    const row = await this.#schemas.findOne({ tenantId, type, generation }, { projection: { _id: 0 } });
    return row ? { ...row, shape: row.shape.value(), complete: row.complete.value() } : undefined;
  }

  /** All of a tenant's generations without their schemas, ordered by type, then oldest first. */
  async list(tenantId: string): Promise<GenerationSummary[]> {
    const rows = this.#schemas.find({ tenantId }, { maxTimeMS: 5_000 }).sort({ type: 1, generation: 1 });
    return rows.project<GenerationSummary>(summaryColumns).toArray();
  }
}
