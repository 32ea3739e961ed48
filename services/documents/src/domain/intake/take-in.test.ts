import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { NewDocument } from "../document/document.ts";
import type { DocumentType } from "../types/document-type.ts";
import { defaultWorkflow } from "../workflow/default-workflow.ts";
import { readDraft } from "./read-draft.ts";
import { takeIn } from "./take-in.ts";

const noDocuments = { insert: async () => new Set<number>(), findIntakes: async () => [] };
const anyType: Pick<DocumentType, "check" | "isQuick" | "generation"> = {
  generation: 0,
  check: async () => [],
  isQuick: () => true,
};

const item = (tenantId: string, type: string) => ({
  tenantId,
  intakeToken: "",
  createdBy: { actor: "key:test", role: "integrator" },
  json: Buffer.from(JSON.stringify({ id: randomUUID(), type, title: "T" })),
});

const deps = {
  documents: noDocuments,
  workflow: async () => defaultWorkflow,
  now: () => new Date(),
  readDraft: async (_: string, json: Uint8Array, form: Parameters<typeof readDraft>[1]) => readDraft(json, form),
};

const knownType = (name: string) => ({
  type: { name, ...anyType },
  workflow: { workflowId: "default", workflowVersion: 1 },
});

test("an unexpected error in the items of one tenant fails only these items", async () => {
  const fault = new TypeError("schema is not iterable");
  const types = {
    find: async (tenantId: string, name: string) => {
      if (tenantId === "broken") throw fault;
      return knownType(name);
    },
  };
  const inserted: string[] = [];
  const documents = {
    ...noDocuments,
    insert: async (taken: readonly NewDocument[]) => {
      inserted.push(...taken.map(({ tenantId }) => tenantId));
      return new Set<number>();
    },
  };
  const items = [item("demo", "a"), item("broken", "a"), item("rival", "a"), item("broken", "b")];
  const outcomes = await takeIn({ ...deps, documents, types }, items);
  const stored = { documentId: expect.any(String) as string };
  expect(outcomes).toEqual([stored, fault, stored, fault]);
  expect(inserted).toEqual(["demo", "rival"]);
});

test("a batch looks up a type once for each tenant, however many documents have that type", async () => {
  const lookedUp: string[] = [];
  const types = {
    find: async (tenantId: string, name: string) => {
      lookedUp.push(`${tenantId} ${name}`);
      return knownType(name);
    },
  };
  const items = Array.from({ length: 20 }, () => [item("demo", "a"), item("demo", "b"), item("rival", "a")]).flat();
  const outcomes = await takeIn({ ...deps, types }, items);
  expect(outcomes).toHaveLength(60);
  for (const outcome of outcomes) expect(outcome).toHaveProperty("documentId");
  expect(lookedUp.toSorted()).toEqual(["demo a", "demo b", "rival a"]);
});
