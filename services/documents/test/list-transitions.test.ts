/**
 * Which transitions ListTransitions offers a role, and which of them it says a guard would refuse.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { failure } from "./support/call-failure.ts";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";

const tenantId = "acme";
let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

async function listFor(documentId: string, role: string) {
  const listed = await service.documents.listTransitions({ tenantId, documentId }, as(role));
  const { transitions, mayUpdate } = listed;
  return { ...listed, mayUpdate, names: transitions.map(({ name }) => name).toSorted() };
}

async function refusalOf(documentId: string, name: string) {
  const { transitions } = await listFor(documentId, "editor");
  return transitions.find((transition) => transition.name === name)?.refusal;
}

async function edit(documentId: string): Promise<void> {
  const documentJson = Buffer.from(JSON.stringify(article({ id: documentId, text: "More snow." })));
  await service.documents.updateDocument({ tenantId, documentId, documentJson, expectedVersion: 1n }, as("editor"));
}

test.each([
  ["writer", ["submit"]],
  ["editor", ["publish", "spike", "submit"]],
  ["legal", []],
  ["admin", ["publish", "spike", "submit"]],
])("role %s gets the transitions of a draft that it may take: %j", async (role, names) => {
  const id = await service.create(tenantId, article());
  expect(await listFor(id, role)).toMatchObject({ names, status: "draft" });
});

test.each([
  ["writer", true],
  ["editor", true],
  ["legal", false],
  ["admin", true],
])("role %s is told whether it may edit a draft: %j", async (role, mayUpdate) => {
  const id = await service.create(tenantId, article());
  expect(await listFor(id, role)).toMatchObject({ mayUpdate });
});

test("a caller may ask for the transitions of another role", async () => {
  const documentId = await service.create(tenantId, article());
  const asked = await service.documents.listTransitions({ tenantId, documentId, role: "writer" }, as("editor"));
  expect(asked.transitions.map(({ name }) => name)).toEqual(["submit"]);
});

test("of a published document with a newer draft, each transition names the version on which it acts", async () => {
  const id = await service.create(tenantId, article());
  await service.take(tenantId, id, "publish");
  await edit(id);
  const { transitions, lastPublished, version } = await listFor(id, "editor");
  expect([version, lastPublished?.version]).toEqual([2n, 1n]);
  const acts = transitions.map(({ name, expectedVersion, fromStatus, toStatus }) =>
    [name, expectedVersion, fromStatus, toStatus].join(" "),
  );
  expect(acts.toSorted()).toEqual([
    "publish 2 draft usable",
    "spike 2 draft spiked",
    "submit 2 draft review",
    "withhold 1 usable withheld",
  ]);
});

test("of a published document with a newer draft, spike is listed with a refusal, and publish without", async () => {
  const id = await service.create(tenantId, article());
  await service.take(tenantId, id, "publish");
  await edit(id);
  expect(await refusalOf(id, "publish")).toBeUndefined();
  expect((await refusalOf(id, "spike"))?.kind).toBe("failed_precondition");
});

test("a transition that a guard would refuse is listed with the refusal that taking it would get", async () => {
  const incomplete = await service.create(tenantId, article({ meta: { slug: undefined } }));
  expect((await refusalOf(incomplete, "publish"))?.violations.map(({ pointer }) => pointer)).toContain("/meta/slug");
  expect(await refusalOf(incomplete, "submit")).toBeUndefined();

  const holder = await service.create(tenantId, article({ slug: "taken" }));
  await service.take(tenantId, holder, "publish");
  const second = await service.create(tenantId, article({ slug: "taken" }));
  const refusal = await refusalOf(second, "publish");
  expect(refusal?.message).toContain(holder);
  const taken = service.documents.transitionDocument(
    { tenantId, transition: { documentId: second, name: "publish", expectedVersion: 1n } },
    as("editor"),
  );
  expect(await failure(taken)).toMatchObject({ code: "FailedPrecondition", message: refusal?.message });
});

test("a killed document offers neither a transition nor an edit, not even to an admin", async () => {
  const id = await service.create(tenantId, article());
  await service.take(tenantId, id, "publish");
  await service.take(tenantId, id, "kill");
  expect(await listFor(id, "admin")).toMatchObject({ names: [], mayUpdate: false, status: "cancelled" });
});

test("the transitions of an unknown document are NOT_FOUND", async () => {
  const unknown = service.documents.listTransitions({ tenantId, documentId: randomUUID() }, as("editor"));
  expect(await failure(unknown)).toMatchObject({ code: "NotFound" });
});
