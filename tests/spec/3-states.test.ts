/** Section 3: the states of a document, the ways to them, and what readers and receivers see. */
import { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Page, success } from "../support/answers.ts";
import { article, as, type Newsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf, type Receiver } from "../support/receiver.ts";
import { stored } from "../support/stored.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let tenants: Tenants;
let room: Newsroom;
let receiver: Receiver;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  room = await tenants.create();
  receiver = await openReceiver();
  await room.endpoints.createEndpoint({ tenantId: room.tenantId, url: receiver.url });
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
  await receiver?.[Symbol.asyncDispose]();
});

/** Whether `GET /v1/documents` shows a document, on any page. */
async function isReadable(id: string): Promise<boolean> {
  let cursor = "";
  for (;;) {
    const query = new URLSearchParams({ type: "core/article", limit: "200", ...(cursor ? { cursor } : {}) });
    const page = await success<Page>(room.request(`/v1/documents?${query}`), 200);
    if (page.items.some((item) => item.id === id)) return true;
    if (!page.hasMore) return false;
    cursor = page.nextCursor;
  }
}

async function applyAll(path: readonly string[]): Promise<string> {
  const id = await room.push();
  for (const name of path) await room.transition(id, name, "admin");
  return id;
}

const webhooksAbout = (id: string) =>
  receiver.received.map((webhook) => payloadOf(webhook)).filter(({ data }) => data.documentId === id);

describe("3 row 1: POST /v1/documents with a valid request and a free id", () => {
  test("answers 201 and leaves the document at draft, with the workflow fields stamped", async () => {
    const draft = article();
    const headers = { "content-type": "application/json" };
    const answer = room.request("/v1/documents", { method: "POST", headers, body: JSON.stringify(draft) });
    expect(await success(answer, 201)).toEqual({ id: draft.id });
    const { document, head } = await stored(room, draft.id);
    expect(head.meta).toMatchObject({ status: "draft", version: 1 });
    expect(document).toMatchObject({ status: "draft", version: 1n, workflowId: "editorial", workflowVersion: 1 });
    expect(document.lastPublished).toBeUndefined();
  });
});

/** A path to each state of the built-in workflow, with what section 3 promises at its end. */
const states = [
  { state: "draft", path: [], readable: false, snapshots: [] },
  { state: "review", path: ["submit"], readable: false, snapshots: [] },
  { state: "approved", path: ["submit", "approve"], readable: false, snapshots: [] },
  { state: "spiked", path: ["spike"], readable: false, snapshots: [] },
  { state: "usable", path: ["submit", "approve", "publish"], readable: true, snapshots: ["usable"] },
  { state: "withheld", path: ["publish", "withhold"], readable: false, snapshots: ["usable", "withheld"] },
  {
    state: "usable, a second time",
    path: ["publish", "withhold", "publish"],
    readable: true,
    snapshots: ["usable", "withheld", "usable"],
  },
  { state: "cancelled", path: ["publish", "kill"], readable: false, snapshots: ["usable", "withheld"] },
  { state: "cancelled", path: ["publish", "withhold", "kill"], readable: false, snapshots: ["usable", "withheld"] },
] as const;

describe("3: usable is the only status that can be read", () => {
  test.each(states)("$state, reached by $path: readable is $readable", async ({ state, path, readable }) => {
    const id = await applyAll(path);
    const { document, head } = await stored(room, id);
    expect(document.status).toBe(state.split(",")[0]);
    expect(head.meta.status).toBe(state.split(",")[0]);
    expect(await isReadable(id)).toBe(readable);
  });

  test("meta.status is usable in every item of the newest page of articles", async () => {
    const id = await applyAll(["publish"]);
    const page = await success<Page>(room.request("/v1/documents?type=core/article"), 200);
    expect(page.items.map(({ meta }) => meta.status)).toEqual(page.items.map(() => "usable"));
    expect(page.items.map((item) => item.id)).toContain(id);
  });

  test("a withheld document cannot be read once the transition is answered", async () => {
    const id = await applyAll(["publish"]);
    expect(await isReadable(id)).toBe(true);
    await room.transition(id, "withhold");
    expect(await isReadable(id)).toBe(false);
  });
});

describe("3 row 2: reaching usable or withheld delivers a signed snapshot, and no other status does", () => {
  test.each(states.filter(({ snapshots }) => snapshots.length > 0))(
    "after $path the receiver gets $snapshots, each with a signature",
    async ({ path, snapshots }) => {
      const id = await applyAll(path);
      for (const [index, status] of snapshots.entries()) {
        const webhook = await receiver.about(id, { sequence: index + 1 });
        const { type, data } = payloadOf(webhook);
        expect(type).toBe(`snapshot.${status}`);
        expect(data).toMatchObject({ status, sequence: index + 1, version: 1, tenantId: room.tenantId });
        expect(data.snapshot.meta.status).toBe(status);
        expect(data.signature.statement.split("\n")[5]).toBe(status);
        expect(data.signature.value).toMatch(/^[A-Za-z0-9+/]{86}==$/);
        expect(webhook.headers["webhook-signature"]).toMatch(/^v1,/);
      }
    },
  );

  test("the last snapshot of a killed document has the status withheld, and none has cancelled", async () => {
    const id = await applyAll(["publish", "kill"]);
    await receiver.about(id, { sequence: 2 });
    expect(webhooksAbout(id).map(({ data }) => data.status)).toEqual(["usable", "withheld"]);
    const { document } = await stored(room, id);
    expect(document.lastPublished).toMatchObject({ status: "cancelled", sequence: 2n });
  });

  test("draft, review, approved and spiked make no snapshot: sequence 1 is that of the publication", async () => {
    const id = await applyAll(["submit", "return", "spike", "restore", "submit", "approve"]);
    expect((await stored(room, id)).document.lastPublished).toBeUndefined();
    const { sequence } = await room.transition(id, "publish");
    expect(sequence).toBe(1n);
    expect(payloadOf(await receiver.about(id)).data.sequence).toBe(1);
    const statuses = new Set(receiver.received.map((webhook) => payloadOf(webhook).data.status));
    expect(statuses).toEqual(new Set(["usable", "withheld"]));
  });
});

describe("3: a tenant's own editorial status", () => {
  const definition = {
    states: { factcheck: { kind: "working" } },
    transitions: [
      { name: "check", from: ["draft"], to: "factcheck", roles: ["editor"], guards: [] },
      { name: "publish", from: ["factcheck"], to: "usable", roles: ["editor"], guards: ["publishValid"] },
      { name: "withhold", from: ["usable"], to: "withheld", roles: ["editor"], guards: [] },
      { name: "reopen", from: ["withheld"], to: "usable", roles: ["editor"], guards: ["publishValid"] },
    ],
  };

  test("is not readable and delivers nothing until the document is published", async () => {
    using workflows = openDevClient(stack.dev, "documents", WorkflowService);
    const { tenantId } = room;
    const definitionJson = Buffer.from(JSON.stringify(definition));
    const made = await workflows.createWorkflowVersion({ tenantId, workflowId: "desk", definitionJson }, as("admin"));
    const activation = { type: "core/article", workflowId: "desk", version: made.version };
    await workflows.activateWorkflow({ tenantId, activation }, as("admin"));

    const id = await vi.waitFor(async () => {
      const pushed = await room.push();
      expect((await stored(room, pushed)).document.workflowId).toBe("desk");
      return pushed;
    }, patient);
    await room.transition(id, "check");
    expect((await stored(room, id)).head.meta.status).toBe("factcheck");
    expect(await isReadable(id)).toBe(false);

    const { sequence } = await room.transition(id, "publish");
    expect(sequence).toBe(1n);
    expect(await isReadable(id)).toBe(true);
    expect(payloadOf(await receiver.about(id)).data.status).toBe("usable");
  });
});
