/** The log of deliveries, sending one again, and replays. */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openReceiver, type Receiver } from "../../../services/delivery/test/support/receiver.ts";
import type { Newsroom } from "../../../tests/support/newsroom.ts";
import { Browser, type Page } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { fieldOf, hiddenOf, textOf } from "./support/page-text.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

const opened = new AsyncDisposableStack();
const ada = new Browser();
let console: FullConsole;
let room: Newsroom;
let receiver: Receiver;
let endpointId: string;
let documentId: string;
let webhookId: string;

const title = `"><script>alert("title")</script> färjan`;
const scripted = `<script>alert("answer")</script>`;
const at = (path: string) => `${console.origin}/t/${console.tenantId}${path}`;
const open = (path: string) => ada.open(at(path));
/** The path of a page, without `/t/{tenant}`. */
const pathOf = ({ url }: Page) => url.pathname.replace(/^\/t\/\w+/, "");
const decoded = (markup: string) =>
  markup.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
const wordsOf = ({ text }: Page) => decoded(text.replace(/<[^>]+>/g, " ")).replace(/\s+/g, " ");
/** Makes the receiver answer each webhook with this status and, but for 204, with a script. */
const answerWith = (status: number) => {
  receiver.behaviour.answer = (_webhook, response) => response.writeHead(status).end(status === 204 ? "" : scripted);
};

beforeAll(async () => {
  console = opened.use(await openFullConsole());
  await console.signIn(ada, "ada");
  ({ room } = console);
  receiver = opened.use(await openReceiver());
  answerWith(503);
  const made = await room.endpoints.createEndpoint({
    tenantId: console.tenantId,
    name: "<i>Print</i>",
    url: receiver.url,
  });
  ({ endpointId } = made.endpoint!);
  documentId = await room.push({ title });
  await room.transition(documentId, "publish");
  const isIt = ({ body }: { body: Buffer }) => body.includes(documentId);
  await vi.waitFor(() => expect(receiver.received.some(isIt)).toBe(true), { timeout: 20_000 });
  webhookId = String(receiver.received.find(isIt)!.headers["webhook-id"]);
});
afterAll(() => opened.disposeAsync());

/** Path of the page of the one delivery that is found by its webhook id. */
async function find(webhook = webhookId): Promise<string> {
  const page = await open(`/deliveries?${new URLSearchParams({ webhook })}`);
  const found = [...page.text.matchAll(/href="\/t\/\w+(\/deliveries\/[0-9a-f-]{36})"/g)];
  expect([page.status, found.length]).toEqual([200, 1]);
  return found[0]![1]!;
}

/** Opens a page again and again until it has these words. */
const waitFor = (path: string, words: string | RegExp) =>
  vi.waitFor(
    async () => {
      const page = await open(path);
      expect(wordsOf(page)).toMatch(words);
      return page;
    },
    { timeout: 20_000, interval: 250 },
  );

async function sendAgain(path: string): Promise<Page> {
  const { text } = await open(path);
  return ada.submit(at(`${path}/again`), { once: hiddenOf(text, "once") });
}

test("the page of a failing delivery shows its attempts, past and next", async () => {
  const path = await find();
  const page = await waitFor(path, /failing, \d+ attempt/);
  expect(wordsOf(page)).toMatch(/503 Service Unavailable after \d+ ms/);
  expect(wordsOf(page)).toMatch(/Next attempt by itself (within a minute|in \d+ minute)/);
  expect(wordsOf(page)).toContain(title);
});

test("a failing delivery sent again is due at once, and its page then shows the attempt that succeeded", async () => {
  const path = await find();
  answerWith(204);
  expect(wordsOf(await sendAgain(path))).toMatch(
    /The next attempt is due at once\.|It was sent again, and the receiver took it\./,
  );
  const after = await waitFor(path, "The receiver took it.");
  expect(wordsOf(after)).toMatch(/503 Service Unavailable after .* 204 No Content after/);
});

test("the form that sends a finished delivery again, submitted twice, sends it once", async () => {
  const path = await find();
  await waitFor(path, "The receiver took it.");
  const before = receiver.received.length;
  const { text } = await open(path);
  const form = { once: hiddenOf(text, "once") };
  for (let times = 0; times < 2; times += 1) await ada.submit(at(`${path}/again`), form);
  expect(receiver.received.length).toBe(before + 1);
  expect(receiver.received.at(-1)?.headers["webhook-id"]).toBe(webhookId);
});

test("the page of a delivery that was sent again says what the receiver answered", async () => {
  const path = await find();
  answerWith(500);
  const refused = wordsOf(await sendAgain(path));
  answerWith(204);
  expect(refused).toMatch(/the receiver did not take it : 500 Internal Server Error after \d+ ms/);
  expect(wordsOf(await sendAgain(path))).toContain("Sent again, and the receiver took it : 204 No Content");
});

test("the page of a delivery shows the bytes that were sent, computed again from the snapshot", async () => {
  const page = await open(await find());
  expect(wordsOf(page)).toContain("Computed again from the snapshot");
  expect(textOf(page.text, "body")).toBe(receiver.received.at(-1)?.body.toString());
});

test("the page of a delivery shows the headers of its request, but no signature", async () => {
  const headers = textOf((await open(await find())).text, "headers");
  expect(headers).toContain(`webhook-id: ${webhookId}`);
  expect(headers).toContain(`POST ${receiver.url}`);
  for (const name of ["webhook-signature", "x-vidimus-signature-256"]) {
    expect(headers).toContain(`${name}: •••`);
    expect(headers).not.toContain(String(receiver.received.at(-1)?.headers[name]));
  }
});

test("the pages of deliveries show titles, receivers' answers and endpoints' names as text, not as markup", async () => {
  const one = await open(await find());
  for (const shown of [title, scripted, "<i>Print</i>"]) expect(decoded(one.text)).toContain(shown);
  for (const { text } of [one, await open("/deliveries")]) {
    expect(text).not.toContain("<script>alert");
    expect(text).not.toContain("<i>Print");
  }
});

test.each([
  ["document", () => documentId, "00000000-0000-4000-8000-000000000000"],
  ["endpoint", () => endpointId, "00000000-0000-4000-8000-000000000000"],
  ["state", () => "delivered", "exhausted"],
  ["since", () => "2026-01-01T00:00", "2099-01-01T00:00"],
  ["until", () => "2099-01-01T00:00", "2026-01-01T00:00"],
])("the list of deliveries narrows by the %s in its URL", async (name, good, other) => {
  const isListed = async (value: string) =>
    (await open(`/deliveries?${new URLSearchParams({ [name]: value })}`)).text.includes(webhookId);
  expect([await isListed(good()), await isListed(other)]).toEqual([true, false]);
});

test.each([
  ["document", "no-id", "It must be a UUID."],
  ["endpoint", "no-id", "It must be a UUID."],
  ["state", "lost", "Knows no"],
  ["since", "yesterday", "This is not a time."],
  ["until", "2026-02-31T99:00", "This is not a time."],
])(
  "an invalid %s in the URL of the list of deliveries answers 400 with a link to its field",
  async (name, value, words) => {
    const page = await open(`/deliveries?${new URLSearchParams({ [name]: value })}`);
    expect(page.status).toBe(400);
    expect(page.text).toContain(`<a href="#${name}">`);
    expect(wordsOf(page)).toContain(words);
  },
);

test("in the list of deliveries the text of a row's link is the event and the document's id", async () => {
  const { text } = await open(`/deliveries?${new URLSearchParams({ webhook: webhookId })}`);
  const [, link = ""] = /href="\/t\/\w+\/deliveries\/[0-9a-f-]{36}"[^>]*>([^]*?)<\/a\s*>/.exec(text) ?? [];
  expect(link.replace(/<[^>]+>/g, "").replace(/\s+/g, " ")).toBe(`snapshot.usable of ${documentId}`);
});

test.each([
  ["hour", 3_600_000],
  ["day", 86_400_000],
  ["week", 7 * 86_400_000],
])("`last=%s` in the URL of the form for a replay replaces its times and keeps the other choices", async (last, ms) => {
  const query = { endpoint: endpointId, states: "delivered", since: "2020-01-01T00:00", until: "2020-01-02T00:00" };
  const before = Date.now();
  const page = await open(`/replays/new?${new URLSearchParams({ ...query, last })}`);
  const since = Date.parse(`${fieldOf(page.text, "since")}Z`);
  expect(since).toBeGreaterThan(before - ms - 60_000);
  expect(since).toBeLessThanOrEqual(Date.now() - ms);
  expect(fieldOf(page.text, "until")).toBe("");
  expect(page.text).toMatch(new RegExp(`value="${endpointId}" selected`));
  expect(page.text).toMatch(/value="delivered"\s+checked/);
  expect(page.text).toContain(`name="last" value="${last}" formaction="/t/${console.tenantId}/replays/new"`);
});

test("the page of a delivery that does not exist answers 404", async () => {
  for (const id of ["x", "00000000-0000-4000-8000-000000000000"]) {
    expect((await open(`/deliveries/${id}`)).status).toBe(404);
  }
});

describe("a held delivery", () => {
  let path = "";
  let page: Page;

  beforeAll(async () => {
    await room.endpoints.disableEndpoint({ tenantId: console.tenantId, endpointId });
    const held = await room.push({ title: "Held" });
    await room.transition(held, "publish");
    await waitFor(`/deliveries?document=${held}`, "1 delivery, newest first");
    const list = await open(`/deliveries?document=${held}&state=held`);
    [, path = ""] = /href="\/t\/\w+(\/deliveries\/[0-9a-f-]{36})"/.exec(list.text) ?? [];
    page = await open(path);
  });
  afterAll(async () => {
    await room.endpoints.enableEndpoint({ tenantId: console.tenantId, endpointId });
    await waitFor(path, "The receiver took it.");
  });

  test("says on its page that it is sent when somebody starts or repairs the endpoint", () => {
    expect(wordsOf(page)).toContain("It is sent when somebody starts or repairs the endpoint.");
  });

  test("cannot be sent again", async () => {
    expect(page.text).not.toContain("Send again now");
    const { text } = await open(await find());
    const refused = await ada.submit(at(`${path}/again`), { once: hiddenOf(text, "once") });
    expect([refused.status, wordsOf(refused)]).toEqual([400, expect.stringContaining("The delivery is held")]);
  });
});

/**
 * Counts what a replay of everything would send to the endpoint. Returns the page with the count,
 * and the fields of its form, which starts the replay.
 */
async function countAll() {
  const everything: [string, string][] = [
    ["endpoint", endpointId],
    ["options", "all"],
  ];
  const counted = await open(`/replays/count?${new URLSearchParams(everything)}`);
  const hidden = ["of", "once"].map((name): [string, string] => [name, hiddenOf(counted.text, name)]);
  return { counted, form: [...everything, ...hidden] };
}

describe("a replay of everything", () => {
  let before: number;
  let afterCount: number;
  let counted: Page;
  let form: [string, string][];
  let started: Page;

  beforeAll(async () => {
    before = receiver.received.length;
    ({ counted, form } = await countAll());
    afterCount = receiver.received.length;
    started = await ada.submit(at("/replays"), form);
    await waitFor(pathOf(started), /Replay to .* done \d+ looked at/);
  });

  test("sends nothing while it is only counted", () => {
    expect(wordsOf(counted)).toContain("2 snapshots of 2 fit what you chose.");
    expect(afterCount).toBe(before);
  });

  test("sends as many snapshots as were counted", async () => {
    expect(wordsOf(started)).toContain("The replay is started.");
    expect(wordsOf(await open(pathOf(started)))).toContain("2 looked at: 2 delivered");
    expect(receiver.received.length).toBe(before + 2);
  });

  test("is called “everything published” on the page of its count and on its own page", () => {
    expect(wordsOf(counted)).toContain("Chosen: everything published.");
    expect(wordsOf(started)).toMatch(/Sends everything published up to \d/);
  });

  test("is not started again when its form is sent again", async () => {
    const again = await ada.submit(at("/replays"), form);
    expect([again.url.pathname, wordsOf(again)]).toEqual([started.url.pathname, expect.stringContaining("done")]);
    expect(wordsOf(await open(`/replays?endpoint=${endpointId}`))).toContain("1 replay, newest first");
    expect(receiver.received.length).toBe(before + 2);
  });
});

describe("a running replay", () => {
  const released = Promise.withResolvers<void>();
  let second: [string, string][];
  let started: Page;
  let path: string;

  beforeAll(async () => {
    receiver.behaviour.answer = (_webhook, response) => void released.promise.then(() => response.writeHead(204).end());
    const first = await countAll();
    ({ form: second } = await countAll());
    started = await ada.submit(at("/replays"), first.form);
    path = pathOf(started);
  });
  afterAll(() => released.resolve());

  test("shows its progress", () => {
    expect(started.text).toMatch(/<progress aria-label="Progress of the replay" value="\d" max="2">/);
  });

  test("lets no other replay to its endpoint start", async () => {
    const refused = await ada.submit(at("/replays"), second);
    expect([refused.status, wordsOf(refused)]).toEqual([
      400,
      expect.stringContaining("A replay to this endpoint is running."),
    ]);
    expect(refused.text).toContain(`<a href="/t/${console.tenantId}${path}">`);
    expect(refused.text).toMatch(/value="all"\s+checked/);
  });

  test("is cancelled after the question “Cancel this replay?”", async () => {
    const asked = await open(`${path}/cancel`);
    expect(wordsOf(asked)).toContain("Cancel this replay?");
    expect(wordsOf(asked)).toMatch(/Cancel the replay\s+Let it run/);
    const cancelled = await ada.submit(at(`${path}/cancel`));
    expect(wordsOf(cancelled)).toContain("The replay is cancelled.");
    expect(cancelled.text).not.toContain("<progress");
    expect(wordsOf(await open(`/replays?endpoint=${endpointId}`))).toContain("2 replays, newest first");
  });
});

test("the pages of replays and the audit page name states of deliveries in words, not as the API does", async () => {
  const chosen: [string, string][] = [
    ["endpoint", endpointId],
    ["states", "exhausted"],
    ["states", "missing"],
    ["once", hiddenOf((await open(`/replays/count?endpoint=${endpointId}&options=all`)).text, "once")],
  ];
  const started = await ada.submit(at("/replays"), chosen);
  expect(wordsOf(started)).toContain("given up, never to be delivered");
  await waitFor(pathOf(started), /Replay to .* done/);
  const withoutSession = await new Browser().submit(at("/replays"), chosen);
  expect(wordsOf(withoutSession)).toContain("Whose delivery is given up");
  const audit = await open("/audit?kind=deliveries");
  expect(wordsOf(audit)).toContain("states given up, never to be delivered");
  expect(audit.text).toContain(`href="${started.url.pathname}"`);
  for (const page of [started, withoutSession, audit, await open("/replays/new")]) {
    expect(wordsOf(page)).not.toMatch(/exhausted|missing/);
  }
});

test("the filter of the list of deliveries says once what the API calls the states", async () => {
  const filter = wordsOf(await open("/deliveries"));
  expect(filter.match(/[^.]*exhausted[^.]*\./g)).toEqual([
    expect.stringMatching(/In the API “waiting” is pending, “given up” is exhausted\.$/),
  ]);
});

test.each([
  ["no choice", [], "options", "Say from when, or in which states, or choose everything."],
  ["everything and a beginning", ["options=all", "since=2026-01-01T00:00"], "options", "leave one out"],
  ["a beginning after the end", ["since=2026-02-01T00:00", "until=2026-01-01T00:00"], "since", "must not be after"],
  ["a malformed beginning", ["since=soon"], "since", "This is not a time."],
])("a form for a replay with %s answers 400 with a link to the field at fault", async (_, chosen, field, words) => {
  const page = await open(`/replays/count?${[`endpoint=${endpointId}`, ...chosen].join("&")}`);
  expect(page.status).toBe(400);
  expect(page.text).toContain(`<a href="#${field}">`);
  expect(wordsOf(page)).toContain(words);
});

test("the count for a replay offers no button that starts the replay if nothing would be sent", async () => {
  const page = await open(`/replays/count?endpoint=${endpointId}&states=exhausted`);
  expect(wordsOf(page)).toContain("Nothing would be sent");
  expect(page.text).not.toContain("Start the replay");
});

test("the count for a replay says if nothing was published in the chosen time", async () => {
  const page = await open(`/replays/count?endpoint=${endpointId}&since=2020-01-01T00:00&until=2020-01-02T00:00`);
  expect(wordsOf(page)).toContain("Nothing was published in this time.");
});

test("a search for the id of a ping says that pings are not kept", async () => {
  const page = await open("/deliveries?webhook=png_01a20bc5106b7481916aa196c4c6a19e");
  expect(wordsOf(page)).toContain("Pings are answered at once, and are not kept as deliveries.");
});

test("the list of deliveries says that it has no pings", async () => {
  expect(wordsOf(await open("/deliveries"))).toContain("posted to your endpoints, but for pings.");
});

test("the pages of a delivery and of its endpoint lead to the page that verifies a webhook", async () => {
  for (const path of [await find(), `/endpoints/${endpointId}`]) {
    expect((await open(path)).text).toContain(
      `<a href="/t/${console.tenantId}/trust-list/verify">Verify a webhook</a>`,
    );
  }
});

test("pages of a replay to a paused endpoint say that the replay waits, with a link to the endpoint", async () => {
  const { tenantId } = console;
  const waits = /The endpoint is paused: (a|the) replay waits until somebody starts it\./;
  expect(wordsOf((await countAll()).counted)).not.toMatch(waits);
  await room.endpoints.disableEndpoint({ tenantId, endpointId });
  const { counted, form } = await countAll();
  const started = await ada.submit(at("/replays"), form);
  for (const page of [counted, started]) {
    expect(wordsOf(page)).toMatch(waits);
    expect(page.text).toContain(`<a href="/t/${tenantId}/endpoints/${endpointId}">`);
  }
  const cancelled = await ada.submit(at(`${pathOf(started)}/cancel`));
  expect(wordsOf(cancelled)).toContain("The replay is cancelled.");
  expect(wordsOf(cancelled)).not.toMatch(waits);
  await room.endpoints.enableEndpoint({ tenantId, endpointId });
});

describe("a delivery with a large body", () => {
  let sent: string;
  let path: string;

  beforeAll(async () => {
    const html = randomBytes(150_000).toString("base64");
    const large = await room.push({ content: { blocks: [{ type: "core/text", data: { html } }] } });
    await room.transition(large, "publish");
    const webhook = await vi.waitFor(
      () => {
        const found = receiver.received.find(({ body }) => body.includes(large));
        expect(found).toBeDefined();
        return found!;
      },
      { timeout: 20_000 },
    );
    sent = webhook.body.toString();
    path = await find(String(webhook.headers["webhook-id"]));
  });

  test("shows the beginning of the body on a page of less than 30 kB gzip", async () => {
    const { text } = await open(path);
    const shown = textOf(text, "body");
    expect([Buffer.byteLength(shown), sent.startsWith(shown)]).toEqual([16_384, true]);
    expect(gzipSync(text).length).toBeLessThan(30_000);
    expect(text).toContain(
      `${new Intl.NumberFormat("en").format(Buffer.byteLength(sent) - 16_384)} bytes are not shown`,
    );
  });

  test("has a file with the whole body", async () => {
    expect((await open(`${path}/body`)).text).toBe(sent);
  });
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
