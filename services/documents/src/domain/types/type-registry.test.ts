import { expect, test, vi } from "vitest";
import { checkDocument } from "../../checking/check-job.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { JsonValue } from "../json/json-value.ts";
import type { SchemaGeneration } from "./schema-generation.ts";
import { createTypeRegistry } from "./type-registry.ts";

const workflow = { workflowId: "editorial", workflowVersion: 1 };

function registry(options: { withWorkflow?: (type: string) => boolean } = {}) {
  const rows: SchemaGeneration[] = [];
  const { withWorkflow = () => true } = options;
  const newest = vi.fn(async (tenantId: string) => {
    const own = rows.filter((row) => row.tenantId === tenantId);
    return new Map(own.map(({ type, generation }) => [type, generation]));
  });
  const find = vi.fn(async (tenantId: string, type: string, generation: number) =>
    rows.find((row) => row.tenantId === tenantId && row.type === type && row.generation === generation),
  );
  const types = createTypeRegistry({
    schemas: { newest, find },
    checks: {
      check: async (_tenantId, source, document, tier) => checkDocument(source, document, tier),
      isQuick: () => true,
    },
    currentWorkflow: async (_tenantId, type) => (withWorkflow(type) ? workflow : undefined),
  });
  const add = (tenantId: string, type: string, generation: number, shape: JsonValue) => {
    const complete = canonicalJson({});
    rows.push({
      tenantId,
      type,
      generation,
      shape: canonicalJson(shape),
      complete,
      createdAt: new Date(),
      createdBy: "",
    });
  };
  return { types, add, newest, find };
}

const [empty, none, title] = [canonicalJson({}), canonicalJson([]), canonicalJson("T")];
const document = { parts: { title, meta: empty, content: empty, links: none } };
const needsMeta = (key: string) => ({ properties: { meta: { required: [key] } } });

test("a core type is the built-in one, except for a tenant that has defined it anew", async () => {
  const { types, add } = registry();
  expect(await types.find("demo", "core/article")).toMatchObject({ type: { generation: 0 }, workflow });
  add("demo", "core/article", 1, needsMeta("desk"));
  types.forget("demo");
  const own = await types.find("demo", "core/article");
  expect(own?.type.generation).toBe(1);
  expect(await own?.type.check(document, "shape")).toMatchObject([{ pointer: "/meta/desk" }]);
  expect((await types.find("rival", "core/article"))?.type.generation).toBe(0);
});

test("a type's older generation still checks with its own schema after a newer one was added", async () => {
  const { types, add } = registry();
  add("demo", "acme/recipe", 1, needsMeta("one"));
  add("demo", "acme/recipe", 2, needsMeta("two"));
  expect((await types.find("demo", "acme/recipe"))?.type.generation).toBe(2);
  const first = await types.at("demo", "acme/recipe", 1);
  expect(await first.check(document, "publication")).toMatchObject([{ pointer: "/meta/one" }]);
  expect((await types.at("demo", "core/tag", 0)).name).toBe("core/tag");
});

test("types of two tenants with the same name are checked with each tenant's own schema", async () => {
  const { types, add } = registry();
  for (const tenantId of ["demo", "rival"]) add(tenantId, "acme/shared", 1, needsMeta(tenantId));
  for (const tenantId of ["demo", "rival"]) {
    const found = await types.find(tenantId, "acme/shared");
    expect(await found?.type.check(document, "shape")).toMatchObject([{ pointer: `/meta/${tenantId}` }]);
  }
});

test("a generation that a type does not have is an error", async () => {
  const { types, add } = registry();
  add("demo", "acme/recipe", 1, {});
  await expect(types.at("demo", "acme/recipe", 3)).rejects.toThrow("no generation 3");
});

test("a type without a schema is not found", async () => {
  const { types } = registry();
  expect(await types.find("demo", "acme/none")).toBeUndefined();
  expect(await types.find("demo", "constructor")).toBeUndefined();
});

test("a type without a workflow is not found", async () => {
  const { types, add } = registry({ withWorkflow: (type) => type !== "acme/orphan" });
  add("demo", "acme/orphan", 1, {});
  expect(await types.find("demo", "acme/orphan")).toBeUndefined();
});

test("a type that another process added since the cached read is found by the next look-up", async () => {
  const { types, add } = registry();
  await types.find("demo", "core/article");
  add("demo", "acme/recipe", 1, {});
  expect((await types.find("demo", "acme/recipe"))?.type.generation).toBe(1);
});

test("a burst of look-ups of known types costs one read of the tenant's generations", async () => {
  const { types, add, newest } = registry();
  add("demo", "acme/recipe", 1, {});
  for (let count = 0; count < 50; count += 1) await types.find("demo", "acme/recipe");
  await Promise.all(Array.from({ length: 50 }, () => types.find("demo", "core/article")));
  expect(newest).toHaveBeenCalledOnce();
});

test("50 look-ups of a type read its schema once", async () => {
  const { types, add, find } = registry();
  add("demo", "acme/recipe", 1, {});
  for (let count = 0; count < 50; count += 1) await types.find("demo", "acme/recipe");
  expect(find).toHaveBeenCalledOnce();
});
