/** Every refusal tells programs, in the fields of its `ErrorInfo`, what they need to go on. */
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { randomUUID } from "node:crypto";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { failure } from "./support/call-failure.ts";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";

const tenantId = "refusals";
let service: Publishing;
let workflows: RpcClient<typeof WorkflowService>;
let schemas: RpcClient<typeof SchemaService>;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  workflows = openRpcClient(WorkflowService, { target: service.target });
  schemas = openRpcClient(SchemaService, { target: service.target });
});
afterAll(async () => {
  workflows[Symbol.dispose]();
  schemas[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

function take(documentId: string, name: string, version = 1, role = "editor", actor?: string) {
  const transition = { documentId, name, expectedVersion: BigInt(version) };
  return service.documents.transitionDocument({ tenantId, transition }, as(role, actor));
}

function update(documentId: string, version: number, document: object, call = as("writer")) {
  const request = { tenantId, documentId, expectedVersion: BigInt(version), documentJson: json(document) };
  return service.documents.updateDocument(request, call);
}

function create(document: object, call = as("writer")) {
  return service.documents.createDocument({ tenantId, draft: { documentJson: json(document) } }, call);
}

async function createEnded(): Promise<string> {
  const id = await service.create(tenantId, article());
  await take(id, "publish");
  await take(id, "kill", 1, "chief");
  return id;
}
const ended = {
  code: "FailedPrecondition",
  reason: "ended",
  metadata: { current_version: "1", current_status: "cancelled" },
};

/** Creates a document and edits it, so that version 2 is the current one. */
async function createEdited(): Promise<string> {
  const id = await service.create(tenantId, article());
  await update(id, 1, article({ id, text: "More." }));
  return id;
}
const stale = {
  code: "Aborted",
  kind: "conflict",
  reason: "stale_version",
  metadata: { current_version: "2", current_status: "draft", legal_transitions: "submit" },
};

describe("a refusal says what programs need to go on, for a transition", () => {
  test("that the workflow does not have", async () => {
    const id = await service.create(tenantId, article());
    expect(await failure(take(id, "launch", 1, "writer"))).toMatchObject({
      code: "FailedPrecondition",
      reason: "unknown_transition",
      metadata: { current_version: "1", current_status: "draft", legal_transitions: "submit" },
    });
  });

  test("that does not start at the document's status", async () => {
    const id = await service.create(tenantId, article());
    expect(await failure(take(id, "approve"))).toMatchObject({
      code: "FailedPrecondition",
      reason: "wrong_state",
      metadata: { current_version: "1", current_status: "draft", legal_transitions: "submit,publish,spike" },
    });
  });

  test("that a guard refuses", async () => {
    const id = await service.create(tenantId, article({ meta: { embargoUntil: "2999-01-01T00:00:00Z" } }));
    expect(await failure(take(id, "publish"))).toMatchObject({
      code: "FailedPrecondition",
      reason: "guard_failed",
      pointers: ["/meta/embargoUntil"],
      metadata: { guard: "notEmbargoed", current_version: "1", current_status: "draft" },
    });
  });

  test("of a document that has ended", async () => {
    expect(await failure(take(await createEnded(), "publish"))).toMatchObject(ended);
  });

  test("of another version than the current one", async () => {
    expect(await failure(take(await createEdited(), "submit", 1, "writer"))).toMatchObject(stale);
  });

  test("that the role may not take", async () => {
    const id = await service.create(tenantId, article());
    expect(await failure(take(id, "approve", 1, "writer"))).toMatchObject({
      code: "PermissionDenied",
      reason: "role_not_allowed",
      metadata: { role: "writer", allowed_roles: "editor" },
    });
  });

  test("by an unknown role, or by none", async () => {
    const id = await service.create(tenantId, article());
    const unknown = { code: "PermissionDenied", reason: "unknown_role" };
    expect(await failure(take(id, "approve", 1, "intern"))).toMatchObject({ ...unknown, metadata: { role: "intern" } });
    expect(await failure(take(id, "approve", 1, ""))).toMatchObject({ ...unknown, metadata: { role: "" } });
  });

  test("in a batch, in the fields of its result", async () => {
    const id = await service.create(tenantId, article());
    const transitions = [{ documentId: id, name: "approve", expectedVersion: 1n }];
    const { results } = await service.documents.batchTransitionDocuments({ tenantId, transitions }, as("editor"));
    expect(results[0]?.outcome.value).toMatchObject({
      reason: "wrong_state",
      metadata: { current_status: "draft", legal_transitions: "submit,publish,spike" },
    });
  });
});

describe("a refusal says what programs need to go on, for an update", () => {
  test("of a document that has ended", async () => {
    const id = await createEnded();
    expect(await failure(update(id, 1, article({ id, text: "Again." })))).toMatchObject(ended);
  });

  test("of another version than the current one", async () => {
    const id = await createEdited();
    expect(await failure(update(id, 1, article({ id, text: "Less." })))).toMatchObject(stale);
  });
});

describe("creating and editing", () => {
  async function expectRefusal(role: string, reason: string): Promise<void> {
    const denied = { code: "PermissionDenied", reason };
    expect(await failure(create(article(), as(role)))).toMatchObject(denied);
    const { documentId } = await create(article());
    const edited = article({ id: documentId, text: "More." });
    expect(await failure(update(documentId, 1, edited, as(role)))).toMatchObject(denied);
    await update(documentId, 1, edited);
  }

  test.each(["", "intern"])("are refused to the unknown role %j", async (role) => {
    await expectRefusal(role, "unknown_role");
  });

  test("are refused to a role that the workflow names for transitions only", async () => {
    await expectRefusal("legal", "role_not_allowed");
  });

  test("need a role that the workflow names for them, or a known role where it names none", async () => {
    const tenant = "rules";
    const publish = { name: "publish", from: ["draft", "desk"], to: "usable", roles: ["desker"] };
    const hand = { name: "hand", from: ["draft"], to: "desk", roles: ["writer"] };
    const states = { desk: { kind: "working", edit: ["desker"] } };
    const define = async (definition: object, expectedVersion: number) => {
      const request = { tenantId: tenant, workflowId: "desk", expectedVersion, definitionJson: json(definition) };
      const { version } = await workflows.createWorkflowVersion(request, as("admin"));
      const activation = { type: "core/article", workflowId: "desk", version };
      await workflows.activateWorkflow({ tenantId: tenant, activation }, as("admin"));
    };
    const createAs = (role: string, document = article()) => {
      const draft = { documentJson: json(document) };
      return service.documents.createDocument({ tenantId: tenant, draft }, as(role));
    };
    const updateAs = (role: string, documentId: string, text: string) => {
      const documentJson = json(article({ id: documentId, text }));
      const request = { tenantId: tenant, documentId, expectedVersion: 1n, documentJson };
      return service.documents.updateDocument(request, as(role));
    };
    await define({ create: ["desker"], states, transitions: [hand, publish] }, 0);
    await expect.poll(() => createAs("writer").then(String, () => "refused"), patient).toBe("refused");
    expect(await failure(createAs("writer"))).toMatchObject({ metadata: { allowed_roles: "desker" } });
    const { documentId } = await createAs("desker");
    const transition = { documentId, name: "hand", expectedVersion: 1n };
    await service.documents.transitionDocument({ tenantId: tenant, transition }, as("writer"));
    expect(await failure(updateAs("editor", documentId, "More."))).toMatchObject({ reason: "role_not_allowed" });
    await updateAs("desker", documentId, "More.");
    await define({ states: { desk: { kind: "working" } }, transitions: [hand, publish] }, 1);
    await expect.poll(() => createAs("legal").then(() => "taken", String), patient).toBe("taken");
    const free = (await createAs("desker")).documentId;
    await updateAs("integrator", free, "More.");
    expect(await failure(updateAs("intern", free, "Less."))).toMatchObject({ reason: "unknown_role" });
  });
});

describe("a request", () => {
  test("without a draft, a transition or an activation is refused with what is missing", async () => {
    const missing = { code: "InvalidArgument", reason: "missing" };
    const { documents } = service;
    expect(await failure(documents.createDocument({ tenantId }))).toMatchObject({
      ...missing,
      message: "draft.document_json is missing",
    });
    expect(await failure(documents.transitionDocument({ tenantId }))).toMatchObject({
      ...missing,
      message: "transition is missing",
    });
    const request = { tenantId, documentId: await service.create(tenantId, article()), expectedVersion: 1n };
    expect(await failure(documents.updateDocument(request))).toMatchObject({
      ...missing,
      message: "document_json is missing",
    });
    expect(await failure(workflows.activateWorkflow({ tenantId }, as("admin")))).toMatchObject({
      ...missing,
      message: "activation is missing",
    });
    const { results } = await documents.batchCreateDocuments({ items: [{ tenantId }] });
    expect(results[0]?.outcome.value).toMatchObject({ reason: "missing", message: "draft.document_json is missing" });
  });

  test("with a document that is too large is INVALID_ARGUMENT", async () => {
    const call = create(article({ text: "x".repeat(1024 * 1024) }));
    expect(await failure(call)).toMatchObject({ code: "InvalidArgument", kind: "too_large" });
  });

  test("that creates an id again is refused, and the reason says whether the content is the same", async () => {
    const document = article();
    await create(document);
    expect(await failure(create(document))).toMatchObject({ code: "AlreadyExists", reason: "same_content" });
    expect(await failure(create({ ...document, title: "Other" }))).toMatchObject({ reason: "other_content" });
  });

  test("of an actor whose name cannot be decoded is INVALID_ARGUMENT", async () => {
    const call = create(article(), { headers: { "vidimus-role": "writer", "vidimus-actor": "100%" } });
    expect(await failure(call)).toMatchObject({ code: "InvalidArgument", message: expect.stringContaining("percent") });
  });
});

describe("a change of types and workflows", () => {
  const activate = (type: string, workflowId: string, version = 1) =>
    workflows.activateWorkflow({ tenantId, activation: { type, workflowId, version } }, as("admin"));

  test("that activates a workflow for a type without a schema is refused with the reason", async () => {
    expect(await failure(activate("acme/nothing", "editorial"))).toMatchObject({
      code: "FailedPrecondition",
      reason: "type_without_schema",
      message: expect.stringContaining("CreateSchemaGeneration"),
    });
  });

  test("that activates a workflow without a way to publish is refused with the reason", async () => {
    const definitionJson = json({ transitions: [] });
    const request = { tenantId, workflowId: "blind", expectedVersion: 0, definitionJson };
    await workflows.createWorkflowVersion(request, as("admin"));
    expect(await failure(activate("core/article", "blind"))).toMatchObject({
      code: "FailedPrecondition",
      reason: "no_way_to_publish",
    });
  });

  test("that adds a workflow version is refused when the expected version is not the newest", async () => {
    const request = { tenantId, workflowId: "stale", expectedVersion: 0, definitionJson: json({ transitions: [] }) };
    await workflows.createWorkflowVersion(request, as("admin"));
    expect(await failure(workflows.createWorkflowVersion(request, as("admin")))).toMatchObject({
      code: "Aborted",
      reason: "stale_workflow",
      metadata: { current_version: "1" },
    });
  });

  const add = (schema: object) => {
    const request = { tenantId, type: "acme/recipe", expectedGeneration: 0, shapeSchemaJson: json(schema) };
    return schemas.createSchemaGeneration(request, as("admin"));
  };

  test("that adds a schema of a dialect other than 2020-12 is refused", async () => {
    expect(await failure(add({ $schema: "http://json-schema.org/draft-07/schema#" }))).toMatchObject({
      code: "InvalidArgument",
      reason: "unknown_dialect",
      message: expect.stringContaining('set $schema to "https://json-schema.org/draft/2020-12/schema"'),
    });
  });

  test("that adds a schema is refused when the expected generation is not the newest", async () => {
    await add({ $schema: "https://json-schema.org/draft/2020-12/schema" });
    expect(await failure(add({}))).toMatchObject({
      code: "Aborted",
      reason: "stale_generation",
      metadata: { current_version: "1" },
    });
  });
});

test.each([
  ["type", "core/articel", "core/tag"],
  ["status", "published", "cancelled"],
])("a list by a %s that the tenant does not have is refused", async (member, unknown, known) => {
  const list = (value: string) => service.documents.listDocuments({ tenantId, [member]: value });
  const refusal = { code: "InvalidArgument", reason: `unknown_${member}` };
  expect(await failure(list(unknown))).toMatchObject(refusal);
  await list(known);
});

describe("the guard fourEyes", () => {
  const tenant = "eyes";

  beforeAll(async () => {
    const publish = { name: "publish", from: ["draft"], to: "usable", roles: ["editor"], guards: ["fourEyes"] };
    const definitionJson = json({ transitions: [publish] });
    const version = { tenantId: tenant, workflowId: "two", expectedVersion: 0, definitionJson };
    await workflows.createWorkflowVersion(version, as("admin"));
    const activation = { type: "core/article", workflowId: "two", version: 1 };
    await workflows.activateWorkflow({ tenantId: tenant, activation }, as("admin"));
    await vi.waitFor(async () => {
      const documentId = await createAs({});
      const { document } = await service.documents.getDocument({ tenantId: tenant, documentId });
      expect(document?.workflowId).toBe("two");
    }, patient);
  });

  const createAs = async (headers: Record<string, string>) => {
    const draft = { documentJson: json(article()) };
    const call = { headers: { "vidimus-role": "writer", ...headers } };
    return (await service.documents.createDocument({ tenantId: tenant, draft }, call)).documentId;
  };
  const publishAs = (documentId: string, actor: string) => {
    const transition = { documentId, name: "publish", expectedVersion: 1n };
    return service.documents.transitionDocument({ tenantId: tenant, transition }, as("editor", actor));
  };
  const guarded = { code: "FailedPrecondition", reason: "guard_failed", metadata: { guard: "fourEyes" } };

  test("refuses a version whose author is unknown", async () => {
    const message = expect.stringContaining("nobody knows who wrote this version");
    expect(await failure(publishAs(await createAs({}), "ed"))).toMatchObject({ ...guarded, message });
  });

  test("takes names that differ in case, spaces and Unicode form for one person", async () => {
    const own = await createAs({ "vidimus-actor": "J%C3%BCrgen" });
    expect(await failure(publishAs(own, "%20JU%CC%88RGEN%20"))).toMatchObject(guarded);
    expect(await publishAs(own, "ed")).toMatchObject({ status: "usable" });
  });
});

test("a killed document's history says that the published version and the newer draft both ended", async () => {
  const id = await service.create(tenantId, article());
  await take(id, "publish");
  await update(id, 1, article({ id, text: "More." }));
  await take(id, "kill", 1, "chief");
  const { entries } = await service.documents.listDocumentHistory({ tenantId, documentId: id });
  expect(
    entries.slice(0, 2).map((entry) => [entry.transition, entry.version, entry.fromStatus, entry.toStatus]),
  ).toEqual([
    ["kill", 2n, "draft", "cancelled"],
    ["kill", 1n, "usable", "cancelled"],
  ]);
});

test("an update that changes nothing makes no new version and leaves the document approved", async () => {
  const document = article({ id: randomUUID() });
  await create(document);
  for (const name of ["submit", "approve"]) await take(document.id, name);
  const { document: after } = await update(document.id, 1, document);
  expect(after).toMatchObject({ version: 1n, status: "approved" });
  const { entries } = await service.documents.listDocumentHistory({ tenantId, documentId: document.id });
  expect(entries).toHaveLength(3);
});
