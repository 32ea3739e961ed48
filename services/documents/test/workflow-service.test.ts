import { Code, ConnectError } from "@connectrpc/connect";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { canonicalJson } from "../src/domain/json/canonical-json.ts";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";

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

const legal = {
  states: { "legal-check": { kind: "working" }, archived: { kind: "terminal" } },
  transitions: [
    { name: "check", from: ["draft"], to: "legal-check", roles: ["writer"], guards: [{ linkPresent: "source" }] },
    { name: "release", from: ["legal-check", "withheld"], to: "usable", roles: ["legal"], guards: ["fourEyes"] },
    { name: "withhold", from: ["usable"], to: "withheld", roles: ["legal"] },
    { name: "archive", from: ["usable", "withheld", "draft"], to: "archived", roles: ["legal"] },
  ],
};

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function create(tenantId: string, definition: unknown, more: object = {}, role = "admin") {
  const request = { tenantId, workflowId: "legal", expectedVersion: 0, definitionJson: json(definition), ...more };
  return workflows.createWorkflowVersion(request, as(role));
}

function activate(tenantId: string, type: string, workflowId: string, version: number, role = "admin") {
  return workflows.activateWorkflow({ tenantId, activation: { type, workflowId, version } }, as(role));
}

async function codeOf(call: Promise<unknown>): Promise<Code | undefined> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof ConnectError ? error.code : undefined;
}

describe("versions of a workflow", () => {
  test("are kept in canonical form", async () => {
    await create("canonical", legal);
    const { workflow } = await workflows.getWorkflowVersion({ tenantId: "canonical", workflowId: "legal" });
    const kept = Buffer.from(workflow!.definitionJson).toString();
    expect(kept).toBe(canonicalJson(JSON.parse(kept)).toString());
  });

  test("stay as they were when a newer one is added", async () => {
    const tenantId = "kept";
    await create(tenantId, legal);
    await create(tenantId, { transitions: [] }, { expectedVersion: 1 });
    const first = await workflows.getWorkflowVersion({ tenantId, workflowId: "legal", version: 1 });
    expect(JSON.parse(Buffer.from(first.workflow!.definitionJson).toString())).toEqual(legal);
  });

  test("are numbered from 1", async () => {
    const tenantId = "numbered";
    expect(await create(tenantId, legal)).toMatchObject({ version: 1 });
    expect(await create(tenantId, { transitions: [] }, { expectedVersion: 1 })).toMatchObject({ version: 2 });
  });

  test("include the newest, which is read when no version is named", async () => {
    const tenantId = "newest";
    await create(tenantId, legal);
    await create(tenantId, { transitions: [] }, { expectedVersion: 1 });
    const newest = await workflows.getWorkflowVersion({ tenantId, workflowId: "legal" });
    expect(newest.workflow).toMatchObject({ version: 2, createdBy: "admin@example.com" });
  });

  test("that are older than the newest are not listed", async () => {
    const tenantId = "listed";
    await create(tenantId, legal);
    await create(tenantId, { transitions: [] }, { expectedVersion: 1 });
    const { workflows: all } = await workflows.listWorkflows({ tenantId });
    expect(all.map(({ workflowId, version }) => [workflowId, version])).toEqual([
      ["editorial", 1],
      ["legal", 2],
    ]);
  });

  test("written concurrently with the same expected version are stored once", async () => {
    const settled = await Promise.allSettled([1, 2, 3, 4].map(() => create("race", legal)));
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await codeOf(create("race", legal))).toBe(Code.Aborted);
    const { workflow } = await workflows.getWorkflowVersion({ tenantId: "race", workflowId: "legal" });
    expect(workflow?.version).toBe(1);
  });

  test("with faults are refused, and the message has the path of each", async () => {
    const broken = { transitions: [{ name: "go", from: ["cancelled"], to: "nowhere", roles: [] }] };
    const refused = create("broken", broken);
    await expect(refused).rejects.toThrow(/\/transitions\/0\/to.*\/transitions\/0\/from\/0/);
    expect(await codeOf(refused)).toBe(Code.InvalidArgument);
  });

  test("may be made and activated by owners and admins, not by editors", async () => {
    expect(await codeOf(create("roles", legal, {}, "editor"))).toBe(Code.PermissionDenied);
    expect(await codeOf(create("roles", legal, {}, ""))).toBe(Code.PermissionDenied);
    expect(await codeOf(activate("roles", "core/article", "editorial", 1, "editor"))).toBe(Code.PermissionDenied);
    expect(await create("roles", legal, {}, "owner")).toMatchObject({ version: 1 });
    expect(await activate("roles", "core/article", "legal", 1, "owner")).toBeDefined();
    expect(await create("roles", legal, { expectedVersion: 1 }, "admin")).toMatchObject({ version: 2 });
    expect(await activate("roles", "core/article", "legal", 2, "admin")).toBeDefined();
  });

  test("are NOT_FOUND for other tenants", async () => {
    await create("mine", legal);
    expect(await codeOf(workflows.getWorkflowVersion({ tenantId: "yours", workflowId: "legal" }))).toBe(Code.NotFound);
    expect(await codeOf(activate("yours", "core/article", "legal", 1))).toBe(Code.NotFound);
  });

  test("include the built-in version 1 of editorial, to which a tenant may add version 2", async () => {
    const tenantId = "built_in";
    const { workflow } = await workflows.getWorkflowVersion({ tenantId, workflowId: "editorial", version: 1 });
    const next = { tenantId, workflowId: "editorial", definitionJson: workflow!.definitionJson };
    expect(await codeOf(workflows.createWorkflowVersion({ ...next, expectedVersion: 0 }, as("admin")))).toBe(
      Code.Aborted,
    );
    const made = await workflows.createWorkflowVersion({ ...next, expectedVersion: 1 }, as("admin"));
    expect(made.version).toBe(2);
  });
});

describe("an active workflow", () => {
  const tenantId = "active";
  const links = [{ rel: "source", type: "core/content-source", uri: "wires://source/ap" }];

  function take(documentId: string, name: string, role: string, actor?: string) {
    const transition = { documentId, name, expectedVersion: 1n };
    return service.documents.transitionDocument({ tenantId, transition }, as(role, actor));
  }

  async function createAs(actor: string, document: object): Promise<string> {
    const request = { tenantId, draft: { documentJson: json(document) } };
    return (await service.documents.createDocument(request, as("writer", actor))).documentId;
  }

  beforeAll(async () => {
    await service.create(tenantId, article({ id: "00000000-0000-4000-8000-000000000001" }));
    await create(tenantId, legal);
    await activate(tenantId, "core/article", "legal", 1);
  });

  test("is the workflow of new documents, while older ones keep theirs", async () => {
    const older = "00000000-0000-4000-8000-000000000001";
    expect(await codeOf(take(older, "check", "admin"))).toBe(Code.FailedPrecondition);
    expect(await take(older, "submit", "admin")).toMatchObject({ status: "review" });
    const id = await service.create(tenantId, article());
    const { document } = await service.documents.getDocument({ tenantId, documentId: id });
    expect(document).toMatchObject({ workflowId: "legal", workflowVersion: 1 });
    const { activations } = await workflows.listWorkflowActivations({ tenantId });
    expect(activations).toMatchObject([{ type: "core/article", workflowId: "legal", version: 1 }]);
  });

  /** Creates a document in state legal-check. */
  async function createChecked(slug?: string): Promise<string> {
    const id = await createAs("wanda", article({ links, ...(slug && { slug }) }));
    expect(await take(id, "check", "writer")).toMatchObject({ status: "legal-check", sequence: 0n });
    return id;
  }

  test("refuses transitions that it does not have from the document's state", async () => {
    const id = await createAs("wanda", article({ links }));
    expect(await codeOf(take(id, "publish", "admin"))).toBe(Code.FailedPrecondition);
    expect(await codeOf(take(id, "release", "legal"))).toBe(Code.FailedPrecondition);
  });

  test("refuses a role that it does not name for a transition", async () => {
    const id = await createChecked();
    expect(await codeOf(take(id, "release", "editor"))).toBe(Code.PermissionDenied);
    expect(await take(id, "release", "legal")).toMatchObject({ status: "usable", sequence: 1n });
  });

  test("refuses a transition that one of its guards refuses", async () => {
    const bare = await createAs("wanda", article());
    await expect(take(bare, "check", "writer")).rejects.toThrow('linkPresent: /links has no link "source"');
    const id = await createChecked();
    await expect(take(id, "release", "legal", "wanda")).rejects.toThrow("fourEyes: wanda wrote this version");
  });

  test("makes a withheld snapshot when a published document reaches a terminal state of the tenant's own", async () => {
    const id = await createChecked();
    await take(id, "release", "legal");
    expect(await take(id, "archive", "legal")).toMatchObject({ status: "archived", sequence: 2n });
    const references = [{ tenantId, documentId: id, sequence: 2n }];
    const { snapshots } = await service.feed.getSnapshots({ references });
    expect(snapshots[0]?.status).toBe("withheld");
    expect(await service.list(tenantId)).not.toContainEqual(expect.objectContaining({ id }));
    expect(await codeOf(take(id, "release", "legal"))).toBe(Code.FailedPrecondition);
  });

  test("lets no two published documents share a slug, though it names no guard for slugs", async () => {
    const ids = await Promise.all([1, 2].map(() => createChecked("twin")));
    await take(ids[0]!, "release", "legal");
    await expect(take(ids[1]!, "release", "legal")).rejects.toThrow("slugFree");
  });

  test("lets documents of a type be created, which a schema alone does not", async () => {
    const recipe = { ...article(), type: "acme/recipe" };
    await schemas.createSchemaGeneration(
      { tenantId, type: "acme/recipe", expectedGeneration: 0, shapeSchemaJson: json({ type: "object" }) },
      as("admin"),
    );
    expect(await codeOf(service.create(tenantId, recipe))).toBe(Code.InvalidArgument);
    await activate(tenantId, "acme/recipe", "editorial", 1);
    expect(await service.create(tenantId, recipe)).toBe(recipe.id);
    expect(await service.take(tenantId, recipe.id, "publish")).toMatchObject({ status: "usable", sequence: 1n });
  });

  test("publishes documents of the tenant's own types, which readers do not find by id", async () => {
    const memo = { ...article(), type: "acme/memo" };
    await schemas.createSchemaGeneration(
      { tenantId, type: "acme/memo", expectedGeneration: 0, shapeSchemaJson: json({ type: "object" }) },
      as("admin"),
    );
    await activate(tenantId, "acme/memo", "editorial", 1);
    await service.create(tenantId, memo);
    expect(await service.take(tenantId, memo.id, "publish")).toMatchObject({ status: "usable" });
    const published = service.published.getPublishedDocument({
      tenantId,
      by: { case: "documentId", value: memo.id },
    });
    expect(await codeOf(published)).toBe(Code.NotFound);
  });
});

describe("the audit of schemas and workflows", () => {
  const audited = async (tenantId: string, role = "admin") =>
    (await schemas.listAuditEntries({ tenantId }, as(role))).entries;

  test("lists, newest first, who added or activated what, and in place of what", async () => {
    const tenantId = "audited";
    const shape = { shapeSchemaJson: json({}), expectedGeneration: 0 };
    await schemas.createSchemaGeneration({ tenantId, type: "acme/recipe", ...shape }, as("admin"));
    await create(tenantId, legal);
    await create(tenantId, legal, { expectedVersion: 1 });
    await activate(tenantId, "acme/recipe", "legal", 1);
    await activate(tenantId, "acme/recipe", "legal", 2);
    const entries = await audited(tenantId);
    const told = entries.map(({ action, subject, detailJson }) => {
      return [action, subject, JSON.parse(Buffer.from(detailJson).toString()) as unknown];
    });
    const [one, two] = [1, 2].map((version) => ({ workflowId: "legal", version }));
    expect(told).toEqual([
      ["activate_workflow", "acme/recipe", { from: one, to: two }],
      ["activate_workflow", "acme/recipe", { from: null, to: one }],
      ["create_workflow_version", "legal", { version: 2 }],
      ["create_workflow_version", "legal", { version: 1 }],
      ["create_schema_generation", "acme/recipe", { generation: 1 }],
    ]);
    const by = { actor: "admin@example.com", role: "admin", fromAddress: "127.0.0.1" };
    for (const entry of entries) expect(entry).toMatchObject({ ...by, tenantId });
  });

  test("has no entry of another tenant", async () => {
    await create("readby", legal);
    expect(await audited("readby")).toHaveLength(1);
    expect(await audited("rival")).toEqual([]);
  });

  test("is not shown to editors", async () => {
    expect(await codeOf(audited("readby", "editor"))).toBe(Code.PermissionDenied);
  });

  test("has no entry for a version that was refused because a concurrent one came first", async () => {
    const tenantId = "late";
    const created = await Promise.all([1, 2, 3].map(() => codeOf(create(tenantId, legal))));
    expect(created.filter((code) => code === undefined)).toHaveLength(1);
    expect((await audited(tenantId)).map(({ action }) => action)).toEqual(["create_workflow_version"]);
  });

  test("has one entry for each of six concurrent activations", async () => {
    const tenantId = "crowded";
    await create(tenantId, legal);
    const activated = [1, 2, 3, 4, 5, 6].map(() => codeOf(activate(tenantId, "core/article", "legal", 1)));
    expect(new Set(await Promise.all(activated))).toEqual(new Set([undefined]));
    const actions = (await audited(tenantId)).map(({ action }) => action);
    expect(actions).toEqual([...Array.from({ length: 6 }, () => "activate_workflow"), "create_workflow_version"]);
  });
});
