import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DocumentService,
  type TransitionDocumentResultSchema,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const at = timestampFromDate(new Date("2026-01-05T10:00:00Z"));
const lastPublished = { version: 2n, status: "usable", sequence: 4n, updatedAt: at };
const documentJson = Buffer.from(
  '{"content":{},"id":"b","links":[],"meta":{"n":1e-7},"title":"Å","type":"core/article"}',
);
const document = { type: "core/article", status: "draft", documentJson, createdAt: at, changedAt: at };
const row = { workflowId: "editorial", workflowVersion: 1 };
const refusedId = "refused";
const brokenId = "broken";
const manyIds = Array.from({ length: 150 }, (_, at) => `many-${at}`);
const known = new Map([
  ...[refusedId, brokenId, ...manyIds].map((id) => [id, { ...document, ...row, documentId: id, version: 1n }] as const),
  ["a", { ...document, documentId: "a", version: 1n, ...row }],
  ["c", { ...document, documentId: "c", version: 2n, ...row }],
  ["b", { ...document, documentId: "b", version: 3n, ...row, lastPublished }],
]);
interface Requested {
  documentId: string;
  name: string;
  expectedVersion: bigint;
}

function transitionOf({ documentId, name, expectedVersion }: Requested) {
  transitions.push({ documentId, name, expectedVersion });
  return { documentId, version: expectedVersion, status: `${name}ed`, sequence: 5n, updatedAt: at };
}

let services: Awaited<ReturnType<typeof openTestServices>>;
const transitions: Requested[] = [];
/** How many transitions each batch had. */
const batches: number[] = [];

beforeAll(async () => {
  services = await openTestServices(
    route(DocumentService, {
      getDocument({ tenantId, documentId }) {
        const found = tenantId === "demo" ? known.get(documentId) : undefined;
        if (!found) throw new DomainError("not_found", `there is no document ${documentId}`);
        return { document: found };
      },
      transitionDocument({ transition }) {
        if (!transition) throw new DomainError("invalid", "no transition");
        const transitioned = transitionOf(transition);
        if (transition.name !== "approve") return transitioned;
        const violations = [{ pointer: "/meta/slug", message: "is required" }];
        throw new DomainError("failed_precondition", "approve is refused", { violations });
      },
      batchTransitionDocuments({ transitions: items }) {
        batches.push(items.length);
        if (items.some(({ documentId }) => documentId === brokenId)) throw new DomainError("unavailable", "no primary");
        const results = items.map((item): MessageInitShape<typeof TransitionDocumentResultSchema> => {
          if (item.documentId !== refusedId) return { outcome: { case: "transitioned", value: transitionOf(item) } };
          const violations = [{ pointer: "/meta/slug", message: "is required" }];
          return { outcome: { case: "error", value: { kind: "failed_precondition", message: "no slug", violations } } };
        });
        return { results };
      },
    }),
  );
});
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(() => {
  transitions.splice(0);
  batches.splice(0);
});

function documents(...argv: string[]) {
  return run(commandLine(argv));
}

const commandLine = (argv: readonly string[]) => [
  "documents",
  ...argv,
  "--tenant",
  "demo",
  "--documents",
  services.target,
];

test("publish acts on the newest version of each document", async () => {
  const { code, stdout } = await documents("publish", "a", "b", "--json");
  const changed = { status: "published", sequence: 5, updatedAt: "2026-01-05T10:00:00.000Z" };
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    transitioned: [
      { id: "a", version: 1, ...changed },
      { id: "b", version: 3, ...changed },
    ],
    failed: [],
  });
});

test("withhold acts on the published version of a document, although a newer draft exists", async () => {
  await documents("withhold", "b");
  expect(transitions).toEqual([{ documentId: "b", name: "withhold", expectedVersion: 2n }]);
});

test("when some of the transitions fail, the exit code is 1 and the error says how many", async () => {
  const { code, stderr } = await documents("publish", "x", "a", "y");
  expect([code, stderr]).toEqual([1, "error: 2 of 3 transitions failed\n"]);
});

test("failed transitions are listed beside those that succeed", async () => {
  const { stdout } = await documents("publish", "x", "a", "y", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    transitioned: [{ id: "a" }],
    failed: [
      { id: "x", reason: "there is no document x" },
      { id: "y", reason: "there is no document y" },
    ],
  });
});

test("an id given again, in lower or upper case, is transitioned once", async () => {
  const run = await documents("publish", "a", "A", "a", "--json");
  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ transitioned: [{ id: "a" }], failed: [] });
  expect(transitions).toHaveLength(1);
});

test("many ids are sent in calls of at most 64", async () => {
  expect(await documents("publish", ...manyIds)).toMatchObject({ code: 0, stderr: "" });
  expect(batches.toSorted((a, b) => b - a)).toEqual([64, 64, 22]);
});

test("the results of many ids are listed in the order of the ids", async () => {
  const { stdout } = await documents("publish", ...manyIds, "--json");
  const { transitioned } = JSON.parse(stdout) as { transitioned: { id: string }[] };
  expect(transitioned.map(({ id }) => id)).toEqual(manyIds);
});

test("one refused document of a batch fails alone", async () => {
  const { code } = await documents("publish", "a", refusedId, "b");
  expect(code).toBe(1);
  expect(transitions.map(({ documentId }) => documentId)).toEqual(["a", "b"]);
});

test("a violation of a refused document is on a line of its own", async () => {
  const { stdout } = await documents("publish", "a", refusedId, "x", "b");
  expect(stdout.trimEnd().split("\n").slice(-3)).toEqual([
    "failed: refused: no slug",
    "  /meta/slug: is required",
    "failed: x: there is no document x",
  ]);
});

test("a failed call fails only the documents of its own batch", async () => {
  const { code, stdout, stderr } = await documents("withhold", ...manyIds, brokenId, "--json");
  expect([code, stderr]).toEqual([1, "error: 23 of 151 transitions failed\n"]);
  const { failed } = JSON.parse(stdout) as { failed: { id: string; reason: string }[] };
  expect(failed.at(-1)).toEqual({ id: brokenId, reason: "no primary" });
  expect(failed).toHaveLength(23);
});

test("the progress bar counts failures", async () => {
  const { stderr } = await run(commandLine(["publish", ...manyIds, "x"]), { isTTY: true });
  expect(stderr).toContain("150 done, 1 failed");
});

test("only a terminal gets a progress bar on standard error", async () => {
  expect((await run(commandLine(["publish", "a"]), { isTTY: true })).stderr).toContain("100%");
  expect((await documents("publish", "a")).stderr).toBe("");
});

test.each([
  ["submit", 3],
  ["withhold", 2],
  ["kill", 2],
  ["retract --on last-published", 2],
  ["kill --on head", 3],
])("transition %s acts on version %s of a document published at 2 and now at 3", async (words, version) => {
  const argv = words.split(" ");
  expect((await documents("transition", "b", ...argv)).code).toBe(0);
  expect(transitions).toEqual([{ documentId: "b", name: argv[0], expectedVersion: BigInt(version) }]);
});

test("kill acts on the published version of a document", async () => {
  const { code } = await documents("kill", "b");
  expect([code, transitions]).toEqual([0, [{ documentId: "b", name: "kill", expectedVersion: 2n }]]);
});

test("transition withhold of a document that was never published acts on its newest version", async () => {
  await documents("transition", "c", "withhold");
  expect(transitions).toEqual([{ documentId: "c", name: "withhold", expectedVersion: 2n }]);
});

test("the error about a refused transition gives the JSON pointer of the fault and what is wrong there", async () => {
  const { code, stderr } = await documents("transition", "a", "approve");
  expect([code, stderr]).toEqual([1, "error: approve is refused\n  /meta/slug: is required\n"]);
});

test("show gives the newest version and the state of the published one", async () => {
  const { stdout } = await documents("show", "b", "--json");
  expect(JSON.parse(stdout)).toEqual({
    id: "b",
    type: "core/article",
    version: 3,
    status: "draft",
    lastPublished: { version: 2, status: "usable", sequence: 4, updatedAt: "2026-01-05T10:00:00.000Z" },
    webhooks: null,
    workflow: { id: "editorial", version: 1 },
    createdAt: "2026-01-05T10:00:00.000Z",
    changedAt: "2026-01-05T10:00:00.000Z",
    document: { content: {}, id: "b", links: [], meta: { n: 1e-7 }, title: "Å", type: "core/article" },
  });
  expect((await documents("show", "a")).stdout).toContain("published  never published");
});
