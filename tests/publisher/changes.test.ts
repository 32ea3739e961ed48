/**
 * Section 4.3: the change feed. A reader that follows the tokens misses no publication and no
 * removal.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusal } from "../support/answers.ts";
import {
  type Changes,
  draftOf,
  edit,
  follow,
  publish,
  read,
  readDocument,
  transition,
} from "../support/site-reader.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let tenants: Tenants;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

/** Kind, id, version and sequence of each change, in order. */
const kinds = (items: Changes["items"]) =>
  items.map(({ change, id, version, sequence }) => [change, id, version, sequence]);

describe("changes", () => {
  test("begin with everything that is published, oldest first, each with its document", async () => {
    const room = await tenants.create();
    const ids = [await publish(room, draftOf("core/article")), await publish(room, draftOf("core/tag"))];
    const { items, hasMore } = await read<Changes>(room, "/changes");
    expect(kinds(items)).toEqual(ids.map((id) => ["upsert", id, 1, 1]));
    expect(hasMore).toBe(false);
    for (const { id, type, updated_at, document } of items) {
      expect(document).toEqual(await readDocument(room, `/documents/${id}`));
      expect({ type: document?.type, updated_at: document?.updated_at }).toEqual({ type, updated_at });
    }
  });

  test("tell of a removal with its type and without its document, after withhold and after kill", async () => {
    const room = await tenants.create();
    const withheld = await publish(room, draftOf("core/article"));
    const killed = await publish(room, draftOf("core/image"));
    const { since } = await follow(room, "");
    await transition(room, withheld, "withhold");
    await transition(room, killed, "kill");
    const { items } = await follow(room, since);
    expect(items).toEqual([
      {
        change: "withdraw",
        id: withheld,
        type: "core/article",
        version: 1,
        sequence: 2,
        updated_at: expect.any(String),
      },
      { change: "withdraw", id: killed, type: "core/image", version: 1, sequence: 2, updated_at: expect.any(String) },
    ]);
  });

  test("of one type leave out documents of other types, and keep the removals of this type", async () => {
    const room = await tenants.create();
    const { since } = await follow(room, "", "&type=core/image");
    const image = await publish(room, draftOf("core/image"));
    const article = await publish(room, draftOf("core/article"));
    const other = await publish(room, draftOf("core/image"));
    await transition(room, image, "withhold");
    await transition(room, article, "withhold");
    const { items } = await follow(room, since, "&type=core/image");
    expect(kinds(items)).toEqual([
      ["upsert", other, 1, 1],
      ["withdraw", image, 1, 2],
    ]);
  });

  test("show a document with three transitions since the token once, as last published", async () => {
    const room = await tenants.create();
    const draft = draftOf("core/article", { title: "First" });
    await publish(room, draft);
    const { since } = await follow(room, "");
    await edit(room, { ...draft, title: "Second" }, 1);
    expect((await follow(room, since)).items).toEqual([]);
    await transition(room, draft.id, "publish", 2);
    await transition(room, draft.id, "withhold", 2);
    await transition(room, draft.id, "publish", 2);
    const { items } = await follow(room, since);
    expect(kinds(items)).toEqual([["upsert", draft.id, 2, 4]]);
    expect(items[0]?.document?.title).toBe("Second");
  });

  test("read one at a time during publications and removals add up to what is published at the end", async () => {
    const room = await tenants.create();
    for (let n = 0; n < 8; n += 1) await publish(room, draftOf("core/article"));
    const seen = new Map<string, string>();
    let since = "";
    const busy = (async () => {
      for (let n = 0; n < 12; n += 1) {
        const id = await publish(room, draftOf("core/article"));
        if (n % 3 === 0) await transition(room, id, "withhold");
      }
    })();
    let done = false;
    void busy.then(() => (done = true));
    for (let last = false; !last;) {
      last = done;
      const answer = await follow(room, since, "", 1);
      for (const { id, change } of answer.items) seen.set(id, change);
      since = answer.since;
    }
    const published = (await follow(room, "")).items.map(({ id }) => id);
    expect(published).toHaveLength(16);
    expect(
      [...seen]
        .filter(([, change]) => change === "upsert")
        .map(([id]) => id)
        .toSorted(),
    ).toEqual(published.toSorted());
    expect((await follow(room, since)).items).toEqual([]);
  });

  test("are refused for a token that no earlier answer gave for the same type", async () => {
    const room = await tenants.create();
    const { message } = await refusal(room.request("/v1/publisher/changes?since=abc&wait=20"), 400, "INVALID_QUERY");
    expect(message).toContain("since");
    const { since } = await read<Changes>(room, "/changes?type=core/tag");
    for (const type of ["", "&type=core/article"]) {
      const answer = await refusal(room.request(`/v1/publisher/changes?since=${since}${type}`), 400, "INVALID_QUERY");
      expect(answer.message).toContain("since must be a token that an earlier answer gave for the same type");
    }
  });
});

// The tests run at the same time, because most of their time is waiting.
describe.concurrent("a poll that waits", () => {
  /** Whether an answer arrives within some time. */
  const within = (answer: Promise<unknown>, ms: number) =>
    Promise.race([answer.then(() => true), new Promise((resolve) => setTimeout(resolve, ms, false))]);

  test("is answered within a second of a publication, and of a removal", async () => {
    const room = await tenants.create();
    const first = await read<Changes>(room, "/changes");
    const draft = draftOf("core/article");
    await room.push(draft);
    let { since } = first;
    for (const [name, change] of [
      ["publish", "upsert"],
      ["withhold", "withdraw"],
    ] as const) {
      const poll = read<Changes>(room, `/changes?since=${since}&wait=20`);
      // The poll waits while nothing happens.
      expect(await within(poll, 1_500)).toBe(false);
      await transition(room, draft.id, name);
      const committed = performance.now();
      const answer = await poll;
      expect(performance.now() - committed).toBeLessThan(1_000);
      expect(kinds(answer.items)).toEqual([[change, draft.id, 1, name === "publish" ? 1 : 2]]);
      since = answer.since;
    }
  });

  test("is not answered for changes of another tenant, another type or a draft", async () => {
    const room = await tenants.create();
    const rival = await tenants.create();
    const { since } = await read<Changes>(room, "/changes?type=core/tag");
    const poll = read<Changes>(room, `/changes?since=${since}&type=core/tag&wait=3`);
    await publish(rival, draftOf("core/tag"));
    await publish(room, draftOf("core/article"));
    await room.push(draftOf("core/tag"));
    expect(await within(poll, 1_500)).toBe(false);
    const empty = await poll;
    expect(empty).toEqual({ items: [], since: expect.any(String), hasMore: false });
    // The poll skipped the article, and does not report it later.
    expect(empty.since).not.toBe(since);
    const id = await publish(room, draftOf("core/tag"));
    const { items } = await read<Changes>(room, `/changes?since=${empty.since}&type=core/tag`);
    expect(kinds(items)).toEqual([["upsert", id, 1, 1]]);
  });

  test("is answered within 5 s when a document was published between its token and its request", async () => {
    const room = await tenants.create();
    const { since } = await read<Changes>(room, "/changes");
    const id = await publish(room, draftOf("core/audio"));
    const poll = read<Changes>(room, `/changes?since=${since}&wait=20`);
    expect(await within(poll, 5_000)).toBe(true);
    expect(kinds((await poll).items)).toEqual([["upsert", id, 1, 1]]);
  });

  test("with wait=20 ends after 20 s, empty and with the same token, when nothing changes", async () => {
    const room = await tenants.create();
    const { since } = await read<Changes>(room, "/changes");
    const from = performance.now();
    expect(await read(room, `/changes?since=${since}&wait=20`)).toEqual({ items: [], since, hasMore: false });
    expect(performance.now() - from).toBeGreaterThanOrEqual(19_990);
  });
});
