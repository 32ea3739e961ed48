import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { Binary, type Collection, type Db } from "mongodb";
import type { Activation, StoredWorkflow } from "../domain/workflow/stored-workflow.ts";
import type { ActivationRow, WorkflowRow } from "./rows.ts";

const bounds = { maxTimeMS: 5_000 };

/** Keeps the versions of tenants' workflows, and which version new documents of a type get. */
export class WorkflowStore {
  static readonly indexes = {
    workflows: { version: { key: { tenantId: 1, workflowId: 1, version: 1 }, unique: true } },
    activations: { type: { key: { tenantId: 1, type: 1 }, unique: true } },
  } as const satisfies DatabaseIndexes;
  readonly #workflows: Collection<WorkflowRow>;
  readonly #activations: Collection<ActivationRow>;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(db: Db, audit: Pick<AuditLog, "transact">) {
    this.#audit = audit;
    this.#workflows = db.collection("workflows");
    this.#activations = db.collection("activations");
  }

  /** Stores a version. Returns false when that number exists already. */
  async insert(tenantId: string, { definition, ...workflow }: StoredWorkflow, by: AuditAuthor): Promise<boolean> {
    const { workflowId: subject, version } = workflow;
    const entry = { tenantId, action: "create_workflow_version", subject, detail: { version } };
    try {
      await this.#audit.transact(async (session, record) => {
        await this.#workflows.insertOne({ tenantId, ...workflow, definition: new Binary(definition) }, { session });
        await record(by, entry);
      });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async find(tenantId: string, workflowId: string, version: number): Promise<StoredWorkflow | undefined> {
    const row = await this.#workflows.findOne({ tenantId, workflowId, version }, bounds);
    return row ? fromWorkflowRow(row) : undefined;
  }

  async all(tenantId: string): Promise<StoredWorkflow[]> {
    return (await this.#workflows.find({ tenantId }, bounds).toArray()).map(fromWorkflowRow);
  }

  /**
   * From workflow id to newest version, for all of a tenant's own workflows. Reads only the index.
   */
  async newest(tenantId: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#workflows
      .find({ tenantId }, bounds)
      .sort({ workflowId: 1, version: 1 })
      .project<Pick<WorkflowRow, "workflowId" | "version">>({ _id: 0, workflowId: 1, version: 1 })
      .toArray();
    return new Map(rows.map(({ workflowId, version }) => [workflowId, version]));
  }

  /** Sets the workflow version that new documents of a type get. */
  async activate(tenantId: string, activation: Activation, at: Date, by: AuditAuthor): Promise<void> {
    const { type, workflowId, version } = activation;
    const change = { $set: { workflowId, version, at, by: by.actor } };
    await this.#audit.transact(async (session, record) => {
      const before = await this.#activations.findOneAndUpdate({ tenantId, type }, change, { upsert: true, session });
      const from = before && { workflowId: before.workflowId, version: before.version };
      const detail = { from, to: { workflowId, version } };
      await record(by, { tenantId, action: "activate_workflow", subject: type, detail });
    });
  }

  async activations(tenantId: string): Promise<Activation[]> {
    const rows = this.#activations.find({ tenantId }, bounds).sort({ type: 1 });
    return rows.project<Activation>({ _id: 0, type: 1, workflowId: 1, version: 1 }).toArray();
  }
}

function fromWorkflowRow({ workflowId, version, definition, createdAt, createdBy }: WorkflowRow): StoredWorkflow {
  return { workflowId, version, definition: definition.value(), createdAt, createdBy };
}
