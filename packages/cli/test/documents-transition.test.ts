import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
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
const known = new Map([
  ["a", { ...document, documentId: "a", version: 1n, workflowId: "editorial", workflowVersion: 1 }],
  ["b", { ...document, documentId: "b", version: 3n, workflowId: "editorial", workflowVersion: 1, lastPublished }],
]);
let services: Awaited<ReturnType<typeof openTestServices>>;
const transitions: { documentId: string; name: string; expectedVersion: bigint }[] = [];

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
        const { documentId, name, expectedVersion } = transition;
        transitions.push({ documentId, name, expectedVersion });
        if (name === "approve") {
          const violations = [{ pointer: "/meta/slug", message: "is required" }];
          throw new DomainError("failed_precondition", "approve is refused", { violations });
        }
        return { documentId, version: expectedVersion, status: `${name}ed`, sequence: 5n, updatedAt: at };
      },
    }),
  );
});
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(() => void transitions.splice(0));

function documents(...argv: string[]) {
  return run(["documents", ...argv, "--tenant", "demo", "--documents", services.target]);
}

test("publish acts on the newest version of each document", async () => {
  const { code, stdout } = await documents("publish", "a", "b", "--json");
  const row = { status: "published", sequence: 5, updatedAt: "2026-01-05T10:00:00.000Z" };
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    transitioned: [
      { id: "a", version: 1, ...row },
      { id: "b", version: 3, ...row },
    ],
    failed: [],
  });
});

test("withhold acts on the published version, although a newer one is being written", async () => {
  await documents("withhold", "b");
  expect(transitions).toEqual([{ documentId: "b", name: "withhold", expectedVersion: 2n }]);
});

test("every id is tried, failures are listed, and any makes the exit code 1", async () => {
  const { code, stdout, stderr } = await documents("publish", "x", "a", "y", "--json");
  expect([code, stderr]).toEqual([1, "error: 2 of 3 transitions failed\n"]);
  expect(JSON.parse(stdout)).toMatchObject({
    transitioned: [{ id: "a" }],
    failed: [
      { id: "x", reason: "there is no document x" },
      { id: "y", reason: "there is no document y" },
    ],
  });
});

test("an id given twice is transitioned once", async () => {
  await documents("publish", "a", "a");
  expect(transitions).toHaveLength(1);
});

test.each([
  [["submit"], 3n],
  [["withhold"], 2n],
  [["kill"], 2n],
  [["retract", "--on", "last-published"], 2n],
  [["kill", "--on", "head"], 3n],
])(
  "transition %j of a document with a newer version than the published one names version %s",
  async (argv, version) => {
    expect((await documents("transition", "b", ...argv)).code).toBe(0);
    expect(transitions).toEqual([{ documentId: "b", name: argv[0], expectedVersion: version }]);
  },
);

test("withhold of a document that was never published names the newest version: the service refuses it", async () => {
  await documents("transition", "a", "withhold");
  expect(transitions).toEqual([{ documentId: "a", name: "withhold", expectedVersion: 1n }]);
});

test("a guard's refusal names the invalid places", async () => {
  const { code, stderr } = await documents("transition", "a", "approve");
  expect([code, stderr]).toEqual([1, "error: approve is refused\n  /meta/slug: is required\n"]);
});

test("show gives the newest version and where the published one stands", async () => {
  const { stdout } = await documents("show", "b", "--json");
  expect(JSON.parse(stdout)).toEqual({
    id: "b",
    type: "core/article",
    version: 3,
    status: "draft",
    lastPublished: { version: 2, status: "usable", sequence: 4, updatedAt: "2026-01-05T10:00:00.000Z" },
    workflow: { id: "editorial", version: 1 },
    createdAt: "2026-01-05T10:00:00.000Z",
    changedAt: "2026-01-05T10:00:00.000Z",
    document: { content: {}, id: "b", links: [], meta: { n: 1e-7 }, title: "Å", type: "core/article" },
  });
  expect((await documents("show", "a")).stdout).toContain("published  never published");
});
