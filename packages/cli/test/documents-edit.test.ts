import { DocumentOrder, DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DomainError } from "@vidimus/kit/errors";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const at = timestampFromDate(new Date("2026-01-05T10:00:00Z"));
const time = "2026-01-05T10:00:00.000Z";
/** Number of the tenant's documents: more than fit on one page of the service. */
const owned = 450;
const summary = { type: "core/article", version: 2n, status: "draft", title: "Å", createdAt: at, changedAt: at };
let services: Awaited<ReturnType<typeof openTestServices>>;
let dir: string;
const updates: { expectedVersion: bigint; json: string }[] = [];
const pages: unknown[] = [];
const filters: unknown[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-cli-"));
  await writeFile(join(dir, "new.json"), '{"title":"Ny",  "content":{"n":1.0}}');
  await writeFile(join(dir, "bad.json"), "{title");
  services = await openTestServices(
    route(DocumentService, {
      getDocument: ({ documentId }) => ({ document: { documentId, version: 7n, status: "review" } }),
      updateDocument({ documentId, expectedVersion, documentJson }) {
        const metadata = { legal_transitions: "return,approve" };
        const message = `document ${documentId} is at version 7, review`;
        if (expectedVersion === 5n) throw new DomainError("conflict", message, { metadata });
        if (expectedVersion !== 7n) throw new DomainError("conflict", `document ${documentId} is at version 7, review`);
        updates.push({ expectedVersion, json: Buffer.from(documentJson).toString() });
        return { document: { documentId, version: 8n, status: "draft" } };
      },
      listTransitions: () => ({
        version: 2n,
        status: "draft",
        mayUpdate: true,
        transitions: [
          { name: "submit", expectedVersion: 2n, fromStatus: "draft", toStatus: "review" },
          {
            name: "publish",
            expectedVersion: 2n,
            fromStatus: "draft",
            toStatus: "usable",
            guards: ["notEmbargoed"],
            refusal: { kind: "failed_precondition", message: "notEmbargoed: later" },
          },
        ],
      }),
      listDocuments({ type, status, limit, pageToken, ...request }) {
        if (request.count) return { count: request.actor === "many" ? 100_001 : 7 };
        pages.push({ type, status, limit, pageToken });
        filters.push({ actor: request.actor, order: request.order, changedSince: request.changedSince });
        const from = Number(pageToken);
        const to = Math.min(from + limit, owned);
        const documents = Array.from({ length: to - from }, (_, n) => ({ ...summary, documentId: `d${from + n}` }));
        return { documents, nextPageToken: to < owned ? String(to) : "" };
      },
      listDocumentHistory: () => ({
        entries: [
          {
            at,
            by: { actor: "cli:kari", role: "admin", identity: "spiffe://vidimus.test/desk" },
            transition: "publish",
            version: 2n,
            fromStatus: "draft",
            toStatus: "usable",
          },
          { at, by: { actor: "", role: "" }, transition: "", version: 2n, fromStatus: "draft", toStatus: "draft" },
          { at, transition: "", version: 1n, fromStatus: "", toStatus: "draft" },
        ],
      }),
    }),
  );
});
afterAll(async () => {
  await services[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  updates.splice(0);
  pages.splice(0);
  filters.splice(0);
});

function documents(argv: readonly string[], world: { stdin?: string } = {}) {
  return run(["documents", ...argv, "--tenant", "demo", "--documents", services.target], { cwd: dir, ...world });
}

test("update sends a file's bytes untouched", async () => {
  const { code, stdout } = await documents(["update", "a", "new.json", "--json"]);
  expect([code, JSON.parse(stdout)]).toEqual([0, { id: "a", version: 8, status: "draft" }]);
  expect(updates).toMatchObject([{ json: '{"title":"Ny",  "content":{"n":1.0}}' }]);
});

test("update without --version sends the newest version as the expected version", async () => {
  await documents(["update", "a", "new.json"]);
  expect(updates).toMatchObject([{ expectedVersion: 7n }]);
});

test("update --version fails when the document was edited since that version", async () => {
  expect(await documents(["update", "a", "new.json", "--version", "6"])).toMatchObject({
    code: 1,
    stderr: "error: document a is at version 7, review\n",
  });
  expect((await documents(["update", "a", "new.json", "--version", "7"])).stdout).toBe("a is at version 8, draft\n");
  expect(updates).toHaveLength(1);
});

test("update with the file name - reads standard input", async () => {
  await documents(["update", "a", "-"], { stdin: '{"title":"Inn"}' });
  expect(updates).toMatchObject([{ json: '{"title":"Inn"}' }]);
});

test.each(["0", "-1", "1.5", "x", ""])("update --version %j is a wrong command line: exit 2", async (version) => {
  expect((await documents(["update", "a", "new.json", `--version=${version}`])).code).toBe(2);
  expect(updates).toEqual([]);
});

test.each([
  ["bad.json", "bad.json is not JSON"],
  ["none.json", "none.json cannot be read"],
])("update with the file %s fails, and sends no update", async (file, words) => {
  expect(await documents(["update", "a", file])).toMatchObject({ code: 1, stderr: expect.stringContaining(words) });
  expect(updates).toEqual([]);
});

test("list shows 50 documents by default", async () => {
  const { code, stdout } = await documents(["list", "--type", "core/article", "--status", "draft", "--json"]);
  expect(code).toBe(0);
  const rows = JSON.parse(stdout) as unknown[];
  expect(rows).toHaveLength(50);
  expect(rows[0]).toEqual({
    id: "d0",
    type: "core/article",
    version: 2,
    status: "draft",
    title: "Å",
    lastPublished: null,
    createdAt: time,
    changedAt: time,
  });
  expect(pages).toEqual([{ type: "core/article", status: "draft", limit: 50, pageToken: "" }]);
});

test("list says on standard error that there are more documents than it shows", async () => {
  expect(await documents(["list"])).toMatchObject({ code: 0, stderr: "there are more than 50: --limit\n" });
});

test("list --limit 410 reads three pages, and asks for no more than 410 documents", async () => {
  const { stdout, stderr } = await documents(["list", "--limit", "410", "--json"]);
  expect(JSON.parse(stdout)).toHaveLength(410);
  expect(stderr).toBe("there are more than 410: --limit\n");
  expect(pages).toMatchObject([{ limit: 200 }, { limit: 200, pageToken: "200" }, { limit: 10, pageToken: "400" }]);
});

test("list that reaches the last document does not say that there are more", async () => {
  const { stdout, stderr } = await documents(["list", "--limit", "1000", "--json"]);
  expect([(JSON.parse(stdout) as unknown[]).length, stderr]).toEqual([owned, ""]);
});

test("list sends --actor, --changed-since and --sort to the documents service", async () => {
  await documents(["list", "--actor", "ida", "--changed-since", "2026-11-22", "--sort", "created", "--limit", "1"]);
  await documents(["list", "--limit", "1"]);
  expect(filters).toMatchObject([
    { actor: "ida", order: DocumentOrder.CREATED, changedSince: { seconds: 1_795_305_600n } },
    { actor: "", order: DocumentOrder.CHANGED, changedSince: undefined },
  ]);
});

test("list --count prints the number of documents, or that it is more than 100000", async () => {
  expect((await documents(["list", "--count"])).stdout).toBe("7\n");
  expect((await documents(["list", "--count", "--actor", "many"])).stdout).toBe("more than 100000\n");
});

test("list --changed-since with a text that is no time is a wrong command line: exit 2", async () => {
  expect((await documents(["list", "--changed-since", "today"])).code).toBe(2);
  expect(pages).toEqual([]);
});

test("transitions lists each transition of a document, with what would refuse it", async () => {
  const { stdout } = await documents(["transitions", "a"]);
  expect(stdout).toContain("version 2 is draft, and may be updated");
  expect(stdout).toMatch(/submit +2 +draft +review +-\n/);
  expect(stdout).toMatch(/publish +2 +draft +usable +notEmbargoed: later\n/);
});

test("a refused update says which transitions are possible", async () => {
  expect((await documents(["update", "stale", "new.json", "--version", "5"])).stderr).toBe(
    "error: document stale is at version 7, review\npossible now: return, approve\n",
  );
});

test("history lists who did what, with intake as create and edits as update", async () => {
  const { stdout } = await documents(["history", "a", "--json"]);
  const [desk, nobody] = [
    { at: time, actor: "cli:kari", role: "admin", identity: "spiffe://vidimus.test/desk" },
    { at: time, actor: null, role: null, identity: null },
  ];
  expect(JSON.parse(stdout)).toEqual([
    { ...desk, action: "publish", version: 2, from: "draft", to: "usable" },
    { ...nobody, action: "update", version: 2, from: "draft", to: "draft" },
    { ...nobody, action: "create", version: 1, from: null, to: "draft" },
  ]);
});
