import { openEventBus } from "@vidimus/kit/event-bus";
import { openMongo } from "@vidimus/kit/mongo";
import { startRpcServer } from "@vidimus/kit/rpc/server";
import { type RunningService, startService } from "@vidimus/kit/service";
import type { DocumentsConfig } from "./config.ts";
import { createTenantRegistry } from "./domain/types/tenant-registry.ts";
import { createWorkflowRegistry } from "./domain/workflow/workflow-registry.ts";
import { openPublication } from "./publication.ts";
import { hearSnapshots, relaySnapshots } from "./relay-snapshots.ts";
import { documentRoute } from "./rpc/document-routes.ts";
import { publicationRoutes } from "./rpc/publication-routes.ts";
import { schemaRoute } from "./rpc/schema-routes.ts";
import { workflowRoute } from "./rpc/workflow-routes.ts";
import { DocumentStore } from "./store/document-store.ts";
import { HistoryStore } from "./store/history-store.ts";
import { migrate, requireMigrated } from "./store/migrate.ts";
import { RevisionStore } from "./store/revision-store.ts";
import { SchemaStore } from "./store/schema-store.ts";
import { WorkflowStore } from "./store/workflow-store.ts";

/** Starts the documents service. */
export async function startDocuments(config: DocumentsConfig): Promise<RunningService> {
  return startService("documents", config, async (stack, process) => {
    const mongo = stack.use(
      await openMongo({ url: config.mongoUrl, database: config.database, appName: "vidimus-documents" }),
    );
    await (config.migrate ? migrate(mongo) : requireMigrated(mongo.db));
    const documents = new DocumentStore(mongo.db);
    const revisions = new RevisionStore(mongo.client, mongo.db);
    const history = new HistoryStore(mongo.db);
    const schemas = new SchemaStore(mongo.db);
    const bus = stack.use(openEventBus({ url: config.natsUrl, name: "vidimus-documents", log: process.log }));
    const workflows = new WorkflowStore(mongo.db);
    const registry = createWorkflowRegistry({ workflows });
    const types = createTenantRegistry({ schemas, currentWorkflow: registry.current });
    const workflow = registry.at;
    const announce = relaySnapshots(bus, process.log);
    const publication = await openPublication({ mongo, types, workflow, announce });
    hearSnapshots(bus, ({ tenantId }) => publication.changed.notify(tenantId));
    const now = () => new Date();
    const editing = { documents, revisions, history, types, workflow, publication, now };
    const adding = { schemas, forget: types.forget, now };
    const workflowService = workflowRoute({ workflows, registry, now });
    const routes = [documentRoute(editing), schemaRoute(adding), workflowService, ...publicationRoutes(publication)];
    const { host, grpcPort: port } = config;
    const rpc = stack.use(await startRpcServer({ ...process, host, port, routes }));
    stack.defer(() => publication.changed.close());
    return { grpcPort: rpc.port, check: mongo.ping };
  });
}
