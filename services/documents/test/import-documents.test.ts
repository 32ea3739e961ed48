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

test("an archive goes in with a result per document, and a second run creates nothing", async () => {
  const ids = Array.from({ length: 200 }, () => randomUUID());
  const drafts = ids.map((id) => draft(id));
  drafts[150] = draft(ids[150]!, { title: 7 });
  const first = await documents.client.importDocuments({ tenantId: "demo", drafts });
  expect(first.results.map(({ outcome }) => outcome.case)).toEqual(
    ids.map((_, index) => (index === 150 ? "error" : "created")),
  );
  expect(first.results[150]?.outcome.value).toMatchObject({ kind: "invalid", violations: [{ pointer: "/title" }] });
  drafts[7] = draft(ids[7]!, { title: "changed" });
  const second = await documents.client.importDocuments({ tenantId: "demo", drafts });
  expect(second.results.map(({ outcome }) => outcome.case)).toEqual(
    ids.map((_, index) => ([7, 150].includes(index) ? "error" : "existing")),
  );
  expect(second.results[7]?.outcome.value).toMatchObject({ kind: "already_exists" });
  expect(second.results[8]?.outcome.value).toMatchObject({ documentId: ids[8] });
});

test("a wrapped document needs a token, by which a repeated import finds the document", async () => {
  const documentJson = json({ version: 1, payload: { type: "core/tag", title: "Sea" } });
  const drafts = ["", randomUUID()].map((intakeToken) => ({ documentJson, intakeToken }));
  const run = () => documents.client.importDocuments({ tenantId: "wrapped", drafts });
  const [first, second] = await Promise.all([run(), run()]);
  expect(first.results.map(({ outcome }) => outcome.value)).toMatchObject([
    { kind: "invalid", message: "draft.intake_token is missing" },
    { documentId: expect.any(String) },
  ]);
  expect(second.results[1]).toEqual(first.results[1]);
});

test.each([0, 1_001])("an import of %i documents is refused as a whole", async (length) => {
  const drafts = Array.from({ length }, () => draft(randomUUID()));
  const call = documents.client.importDocuments({ tenantId: "demo", drafts });
  await expect(failure(call)).resolves.toMatchObject({ code: "InvalidArgument" });
});
