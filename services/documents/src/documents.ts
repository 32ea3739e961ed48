import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { openEventBus } from "@vidimus/kit/event-bus";
import { openMongo } from "@vidimus/kit/mongo";
import { type RpcRoute, startRpcServer } from "@vidimus/kit/rpc/server";
import { type RunningService, startService } from "@vidimus/kit/service";
import type { DocumentsConfig } from "./config.ts";
import { builtInRegistry } from "./domain/types/built-in-registry.ts";
import { defaultWorkflow } from "./domain/workflow/default-workflow.ts";
import { batchCreateDocuments } from "./rpc/batch-create-documents.ts";
import { createDocument } from "./rpc/create-document.ts";
import { openPublication, type Publication } from "./publication.ts";
import { relaySnapshots } from "./relay-snapshot.ts";
import { getDocument } from "./rpc/get-document.ts";
import { publicationRoutes, transitionMethods } from "./rpc/publication-routes.ts";
import { DocumentStore } from "./store/document-store.ts";

/** Starts the documents service. */
export async function startDocuments(config: DocumentsConfig): Promise<RunningService> {
  return startService("documents", config, async (stack, process) => {
    const mongo = stack.use(
      await openMongo({ url: config.mongoUrl, database: config.database, appName: "vidimus-documents" }),
    );
    const documents = new DocumentStore(mongo.db);
    await documents.ensureIndexes();
    const bus = stack.use(openEventBus({ url: config.natsUrl, name: "vidimus-documents", log: process.log }));
    const types = builtInRegistry({
      workflowId: defaultWorkflow.workflowId,
      workflowVersion: defaultWorkflow.version,
    });
    const workflow = async () => defaultWorkflow;
    const announce = relaySnapshots(bus, process.log);
    const publication = await openPublication({ mongo, types, workflow, announce });
    const now = () => new Date();
    const routes = [documentRoute({ documents, types, publication, now }), ...publicationRoutes(publication)];
    const { host, grpcPort: port } = config;
    const rpc = stack.use(await startRpcServer({ ...process, host, port, routes }));
    return { grpcPort: rpc.port, check: mongo.ping };
  });
}

interface DocumentDeps {
  documents: DocumentStore;
  types: ReturnType<typeof builtInRegistry>;
  publication: Publication;
  now(): Date;
}

function documentRoute(deps: DocumentDeps): RpcRoute {
  const implementation = {
    createDocument: createDocument(deps),
    batchCreateDocuments: batchCreateDocuments(deps),
    getDocument: getDocument(deps),
    ...transitionMethods(deps.publication),
  };
  return { service: DocumentService, register: (router) => void router.service(DocumentService, implementation) };
}
