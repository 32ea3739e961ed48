/** One person who works with several tools, each with a certificate of its own. */
import { Code, ConnectError } from "@connectrpc/connect";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { personActor } from "@vidimus/kit/rpc/context/person";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { fileCredentials } from "@vidimus/kit/tls/file-credentials";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { article, as } from "../support/newsroom.ts";
import { sharedConstellation, type SharedConstellation } from "../support/shared-constellation.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";

const issuer = "https://id.example";
const [wanda, ed] = ["wanda", "ed"].map((subject) => personActor({ issuer, subject })) as [string, string];
const identityOf = (tool: string) => `spiffe://vidimus.localhost/${tool}`;
let stack: SharedConstellation;
let tenants: Tenants;
let tenantId: string;
const tools: Record<string, TlsFiles> = {};

beforeAll(async () => {
  stack = await sharedConstellation({ mtls: true });
  tenants = openTenants(stack.dev);
  ({ tenantId } = await tenants.create());
  const identities = stack.identities!;
  for (const tool of ["desk", "phone", "script"]) tools[tool] = await identities.issue(tool, [identityOf(tool)]);
  const file = JSON.parse(readFileSync(identities.grantsFile, "utf8")) as { grants: object[] };
  for (const tool of ["desk", "phone", "script"]) {
    const people = tool === "script" ? {} : { people: true };
    const grant = { identity: identityOf(tool), tenants: [tenantId], services: [DocumentService.typeName], ...people };
    file.grants.push({ ...grant, roles: ["editor"] });
  }
  writeFileSync(identities.grantsFile, JSON.stringify(file));
  await activateFourEyes();
});
afterAll(() => tenants?.[Symbol.dispose]());

/** Opens a client of the documents service with the certificate of a tool. */
function open(tool: string) {
  const credentials = fileCredentials(tools[tool]!, "documents");
  return openRpcClient(DocumentService, { target: stack.dev.grpc.documents, credentials });
}

const acting = (actor: string) => ({ headers: { "vidimus-role": "editor", "vidimus-actor": actor } });

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error: unknown) => Code[ConnectError.from(error).code],
  );

/** Makes "fourEyes" a guard of publications. */
async function activateFourEyes(): Promise<void> {
  using operator = openDevClient(stack.dev, "documents", WorkflowService);
  const publish = { name: "publish", from: ["draft"], to: "usable", roles: ["editor"], guards: ["fourEyes"] };
  const definitionJson = Buffer.from(JSON.stringify({ transitions: [publish] }));
  await operator.createWorkflowVersion({ tenantId, workflowId: "eyes", definitionJson }, as("admin"));
  const activation = { type: "core/article", workflowId: "eyes", version: 1 };
  await operator.activateWorkflow({ tenantId, activation }, as("admin"));
}

type Tool = ReturnType<typeof open>;

/** Creates a document, as soon as the service knows the tool's grant. Returns its id. */
async function create(tool: Tool, actor: string): Promise<string> {
  const draft = { documentJson: Buffer.from(JSON.stringify(article())) };
  const created = vi.waitFor(() => tool.createDocument({ tenantId, draft }, acting(actor)), {
    timeout: 5_000,
    interval: 200,
  });
  return (await created).documentId;
}

function publish(tool: Tool, documentId: string, actor: string): Promise<unknown> {
  const transition = { documentId, name: "publish", expectedVersion: 1n };
  return tool.transitionDocument({ tenantId, transition }, acting(actor));
}

it("a person with two tools counts once for four eyes", async () => {
  using desk = open("desk");
  using phone = open("phone");
  const documentId = await create(desk, wanda);
  expect(await codeOf(publish(phone, documentId, wanda))).toBe("FailedPrecondition");
  expect(await codeOf(publish(phone, documentId, wanda.toUpperCase()))).toBe("FailedPrecondition");
  expect(await codeOf(publish(phone, documentId, ed))).toBe("ok");
  const { entries } = await desk.listDocumentHistory({ tenantId, documentId }, acting(ed));
  expect(entries.map(({ by }) => [by?.actor, by?.identity])).toEqual([
    [ed, identityOf("phone")],
    [wanda, identityOf("desk")],
  ]);
});

it("a tool without `people` in its grant may not act as a person", async () => {
  using script = open("script");
  const documentId = await create(script, "importer");
  expect(await codeOf(publish(script, documentId, ed))).toBe("PermissionDenied");
});
