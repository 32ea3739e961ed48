import { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { type EventBus, openEventBus } from "@vidimus/kit/nats/event-bus";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ensureDatabaseVersion, type DatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { openDoors } from "@vidimus/kit/service/open-doors";
import { type RunningTeamsService, type ServiceContext, startService } from "@vidimus/kit/service/service";
import { openKnownTenants } from "@vidimus/tenancy/open-known-tenants";
import { openChecking } from "./checking/open-checking.ts";
import type { DocumentsConfig } from "./config.ts";
import { createTypeRegistry } from "./domain/types/type-registry.ts";
import { createWorkflowRegistry } from "./domain/workflow/workflow-registry.ts";
import { openPublishing } from "./open-publishing.ts";
import { attestation } from "./attestation.ts";
import { announceSnapshots, subscribeSnapshots } from "./announce-snapshots.ts";
import { reportPending } from "./report-pending.ts";
import { batchIntakeRoute, documentRoute } from "./rpc/documents/route.ts";
import { publishedDocumentRoute } from "./rpc/published/route.ts";
import { signatureAuditRoute } from "./rpc/signature-audit/route.ts";
import { snapshotFeedRoute } from "./rpc/snapshot-feed/route.ts";
import { knownTypesRoute, schemaRoute } from "./rpc/schemas/route.ts";
import { workflowRoute } from "./rpc/workflows/route.ts";
import { snapshotStream } from "./snapshot-stream.ts";
import { documentsDatabaseVersion } from "./store/documents-database-version.ts";
import { HeadStore } from "./store/head-store.ts";
import { HistoryStore } from "./store/history-store.ts";
import { RevisionStore } from "./store/revision-store.ts";
import { SequenceFloor } from "./store/sequence-floor.ts";
import { SignatureStore } from "./store/signature-store.ts";
import { SchemaStore } from "./store/schema-store.ts";
import { WorkflowStore } from "./store/workflow-store.ts";

/** @param databaseVersion tests pass another one */
export async function startDocuments(
  config: DocumentsConfig,
  databaseVersion: DatabaseVersion = documentsDatabaseVersion,
): Promise<RunningTeamsService> {
  return startService("documents", config, async (stack, process) => {
    const mongo = stack.use(
      await openMongo({ url: config.mongoUrl, database: config.database, appName: "vidimus-documents" }),
    );
    await ensureDatabaseVersion(mongo, databaseVersion, config.migrate);
    const documents = new HeadStore(mongo.db);
    const revisions = new RevisionStore(mongo.client, mongo.db);
    const history = new HistoryStore(mongo.db);
    const audit = await AuditLog.open(mongo, process.log);
    const schemas = new SchemaStore(mongo.db, audit);
    const bus = stack.use(openBus(config, process));
    const workflows = new WorkflowStore(mongo.db, audit);
    const registry = createWorkflowRegistry({ workflows });
    const { checkThreads: threads } = config;
    const checking = stack.use(openChecking({ threads, log: process.log, registry: process.metrics.registry }));
    const { readDraft, readSchema, checks } = checking;
    const types = createTypeRegistry({ schemas, currentWorkflow: registry.current, checks });
    const workflow = registry.at;
    const announce = announceSnapshots(bus);
    const now = () => new Date();
    const { tracing } = process;
    const sequenceFloor = await new SequenceFloor(mongo.db).read();
    const publishing = openPublishing({ mongo, tracing, types, workflow, now, announce, sequenceFloor });
    reportPending(process.metrics.registry, publishing.snapshots);
    subscribeSnapshots(bus, (tenantId, type) => publishing.changeSignal.notify(tenantId, type));
    const editing = { documents, revisions, history, readDraft, types, workflow, states: registry, publishing, now };
    const adding = { audit, schemas, readSchema, forget: types.forget, now };
    const teams = [documentRoute(editing), schemaRoute(adding), workflowRoute({ workflows, registry, types, now })];
    const mesh = [
      batchIntakeRoute(editing),
      publishedDocumentRoute(publishing),
      snapshotFeedRoute({ ...publishing, ...attestation(config.attestationKey, process.log), log: process.log }),
      signatureAuditRoute({ signatures: new SignatureStore(mongo.db) }),
      knownTypesRoute({ schemas }),
    ];
    const known = openKnownTenants(stack, config, process);
    const ports = await openDoors(stack, config, { teams, mesh }, { ...process, tenants: known });
    stack.defer(() => publishing.changeSignal.close());
    return {
      ...ports,
      check: mongo.ping,
      checkDegraded: async () => void (await Promise.all([bus.ping(), known?.check()])),
    };
  });
}

function openBus(
  { broker, snapshotStreamReplicas: replicas }: DocumentsConfig,
  { log, metrics: { registry } }: ServiceContext,
): EventBus {
  const bus = openEventBus({ ...broker, name: "vidimus-documents", log, registry });
  if (replicas > 0) bus.keepStream(snapshotStream(replicas));
  return bus;
}
