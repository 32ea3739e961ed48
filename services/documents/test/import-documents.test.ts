import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { failure } from "./support/call-failure.ts";
import { json, runDocuments, type RunningDocuments } from "./support/running-documents.ts";

let documents: RunningDocuments;

beforeAll(async () => {
  documents = await runDocuments({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});

afterAll(async () => {
  await documents[Symbol.asyncDispose]();
});

function draft(id: string, more: object = {}) {
  return { documentJson: json({ id, type: "core/article", title: "T", ...more }) };
}

test("an import of 200 documents gives a result for each, in their order", async () => {
  const ids = Array.from({ length: 200 }, () => randomUUID());
  const drafts = ids.map((id) => draft(id, id === ids[150] ? { title: 7 } : {}));
  const first = await documents.client.importDocuments({ tenantId: "demo", drafts });
  const made = first.results.map(({ outcome }) =>
    outcome.case === "created" ? outcome.value.documentId : outcome.case,
  );
  expect(made).toEqual(ids.map((id, index) => (index === 150 ? "error" : id)));
  expect(first.results[150]?.outcome.value).toMatchObject({ kind: "invalid", violations: [{ pointer: "/title" }] });
});

test("a second import of the same ids creates no document", async () => {
  const ids = Array.from({ length: 20 }, () => randomUUID());
  const drafts = ids.map((id) => draft(id));
  await documents.client.importDocuments({ tenantId: "demo", drafts });
  drafts[7] = draft(ids[7]!, { title: "changed" });
  const second = await documents.client.importDocuments({ tenantId: "demo", drafts });
  expect(second.results.map(({ outcome }) => outcome.case)).toEqual(
    ids.map((_, index) => (index === 7 ? "error" : "existing")),
  );
  expect(second.results[7]?.outcome.value).toMatchObject({ kind: "already_exists" });
  expect(second.results[8]?.outcome.value).toMatchObject({ documentId: ids[8] });
});

async function importWrapped(intakeToken: string) {
  const documentJson = json({ version: 1, payload: { type: "core/tag", title: "Sea" } });
  const drafts = [{ documentJson, intakeToken }];
  return (await documents.client.importDocuments({ tenantId: "wrapped", drafts })).results[0]?.outcome.value;
}

test("a wrapped document without a token is invalid", async () => {
  expect(await importWrapped("")).toMatchObject({ kind: "invalid", message: "draft.intake_token is missing" });
});

test("two imports of a wrapped document with one token at the same time give the same id", async () => {
  const intakeToken = randomUUID();
  const [first, second] = await Promise.all([importWrapped(intakeToken), importWrapped(intakeToken)]);
  expect(first).toMatchObject({ documentId: expect.any(String) });
  expect(second).toEqual(first);
});

test.each([0, 1_001])("an import of %i documents is invalid", async (length) => {
  const drafts = Array.from({ length }, () => draft(randomUUID()));
  const call = documents.client.importDocuments({ tenantId: "demo", drafts });
  await expect(failure(call)).resolves.toMatchObject({ code: "InvalidArgument" });
});
