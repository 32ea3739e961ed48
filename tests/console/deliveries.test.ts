/** Deliveries and replays in a browser, with and without script, and by keyboard alone. */
import type { Visitor } from "@vidimus/devstack/browser/open-browser";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf, type Receiver } from "../support/receiver.ts";
import { press, tabTo, wordsOf } from "./support/console-pages.ts";
import { type ConsoleStack, openConsoleStack } from "./support/open-console-stack.ts";

const opened = new AsyncDisposableStack();
const snapshots = 3;
let stack: ConsoleStack;
let room: Newsroom;
let receiver: Receiver;
let owner: Visitor;
let base: string;
let endpointId: string;
/** Answers the webhooks that `hold` has left without an answer. */
let release = () => {};

beforeAll(async () => {
  stack = opened.use(await openConsoleStack());
  room = opened.use(openNewsroom(stack.dev));
  receiver = opened.use(await openReceiver());
  owner = await stack.signIn("ida");
  base = `${stack.dev.console}/t/demo`;
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId: "demo", name: "Site", url: receiver.url });
  ({ endpointId } = endpoint!);
  for (let count = 0; count < snapshots; count += 1) await receiver.about(await publish());
});
afterEach(() => release());
afterAll(() => opened.disposeAsync());

async function publish(title = "Ferry cancelled"): Promise<string> {
  const id = await room.push({ title });
  await room.transition(id, "publish");
  return id;
}

const click = (page: Page, name: string) => page.getByRole("button", { name }).first().click();
const follow = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).first().click();

/** Reloads a page until its text matches; answers the text. */
async function until(page: Page, words: RegExp): Promise<string> {
  for (let count = 0; count < 120; count += 1) {
    const said = await wordsOf(page);
    if (words.test(said)) return said;
    await page.waitForTimeout(250);
    await page.reload();
  }
  throw new Error(`${page.url()} never said ${String(words)}, but: ${await wordsOf(page)}`);
}

/** Leaves webhooks that arrive without an answer until `release`. */
function hold(): void {
  const { promise, resolve } = Promise.withResolvers<number>();
  receiver.answerWith(() => promise);
  release = () => {
    receiver.answerWith(() => 204);
    resolve(204);
  };
}

describe.each([{ script: true }, { script: false }])("with script $script", ({ script }) => {
  const visit = <T>(path: string, look: (page: Page) => Promise<T>) =>
    stack.browser.visit(`${base}${path}`, { ...owner, script }, look);

  /** Publishes, and opens the page of the delivery that the receiver refuses. */
  async function openFailing(page: Page, title: string): Promise<void> {
    receiver.answerWith(() => 503);
    const { headers } = await receiver.about(await publish(title));
    await page.getByLabel("Webhook id").fill(String(headers["webhook-id"]));
    await click(page, "Show");
    expect(await wordsOf(page)).toContain("1 delivery");
    await page.getByRole("link", { name: /^snapshot\.usable of / }).click();
  }

  it("a failing delivery is found by its webhook id, and its page shows the receiver's refusal", async () => {
    const title = `Refused ${script}`;
    await visit("/deliveries", async (page) => {
      await openFailing(page, title);
      expect(await until(page, /failing, \d+ attempts?/)).toContain("503 Service Unavailable");
      expect(await wordsOf(page)).toContain(title);
    });
    receiver.answerWith(() => 204);
  });

  it("a delivery is sent again at once, while it fails and after it was accepted", async () => {
    await visit("/deliveries", async (page) => {
      await openFailing(page, `Again ${script}`);
      await until(page, /failing, \d+ attempts?/);
      receiver.answerWith(() => 204);
      await click(page, "Send again now");
      await until(page, /The receiver took it\./);
      await click(page, "Send again now");
      expect(await wordsOf(page)).toContain("Sent again, and the receiver took it: 204 No Content");
    });
  });

  it("a replay is counted, started, shown with its progress while it runs, and cancelled", async () => {
    hold();
    await visit("/deliveries", async (page) => {
      await follow(page, "Replays");
      await follow(page, "New replay");
      await page.getByLabel("Endpoint", { exact: true }).selectOption(endpointId);
      await page.getByLabel("Everything").check();
      await click(page, "Count what it would send");
      expect(await wordsOf(page)).toMatch(/Send \d+ snapshots to “Site”\?/);
      await click(page, "Start the replay");
      expect(await wordsOf(page)).toContain("The replay is started.");
      expect(await wordsOf(page)).toMatch(/running.*looked at/);
      expect(await page.getByRole("progressbar", { name: "Progress of the replay" }).count()).toBe(1);
      await follow(page, "Cancel the replay");
      await click(page, "Cancel the replay");
      expect(await wordsOf(page)).toContain("The replay is cancelled.");
    });
  });

  it("the button “Last 24 hours” sets a replay's start, and keeps its endpoint and the state “given up”", async () => {
    await visit(`/replays/new?endpoint=${endpointId}`, async (page) => {
      await page.getByLabel("given up").check();
      await click(page, "Last 24 hours");
      const since = page.getByLabel("Published from (UTC)");
      const ago = Date.now() - Date.parse(`${await since.inputValue()}Z`);
      expect([ago >= 86_400_000, ago < 86_520_000]).toEqual([true, true]);
      expect(await page.getByLabel("given up").isChecked()).toBe(true);
      expect(await page.getByLabel("Endpoint", { exact: true }).inputValue()).toBe(endpointId);
    });
  });

  it("Enter in a field of a new replay opens the count of what it would send", async () => {
    await visit(`/replays/new?endpoint=${endpointId}&last=day`, async (page) => {
      await page.getByLabel("Published from (UTC)").press("Enter");
      await page.getByRole("heading", { name: /^Send \d+ snapshots to “Site”\?$/ }).waitFor();
    });
  });

  it("a double click starts one replay, and shows it", async () => {
    const path = `/replays/count?${new URLSearchParams({ endpoint: endpointId, options: "all" })}`;
    const rows = async (page: Page) => {
      await page.goto(`${base}/replays?endpoint=${endpointId}`);
      return page.locator("tbody tr").count();
    };
    await visit(path, async (page) => {
      const before = await rows(page);
      await page.goto(`${base}${path}`);
      await page.getByRole("button", { name: "Start the replay" }).dblclick();
      await page.getByRole("heading", { name: "Replay to" }).waitFor();
      await until(page, /done/);
      expect(await rows(page)).toBe(before + 1);
    });
  });
});

it("with script a running replay is followed without a reload, to its end", async () => {
  hold();
  const path = `/replays/count?${new URLSearchParams({ endpoint: endpointId, options: "all" })}`;
  await stack.browser.visit(`${base}${path}`, owner, async (page) => {
    await click(page, "Start the replay");
    expect(await wordsOf(page)).toContain("running");
    const live = await page.locator("#live [role=status]").elementHandle();
    const url = page.url();
    release();
    await page.locator("#live", { hasText: "done" }).waitFor({ timeout: 30_000 });
    // The part that screen readers listen to is still the same, on the same page.
    expect([await live.isVisible(), page.url()]).toEqual([true, url]);
    expect(await wordsOf(page)).not.toContain("Load again");
    await follow(page, "It has ended: load the page");
    expect(await wordsOf(page)).not.toContain("Cancel the replay");
  });
});

it("keyboard alone finds a delivery, sends it again, and counts, starts and cancels a replay", async () => {
  await stack.browser.visit(`${base}/deliveries`, owner, async (page) => {
    await tabTo(page, "webhook");
    await page.keyboard.type(String(receiver.received.at(-1)!.headers["webhook-id"]));
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    await press(page, `snapshot.usable of ${payloadOf(receiver.received.at(-1)!).data.documentId}`);
    await press(page, "Send again now");
    expect(await wordsOf(page)).toContain("Sent again, and the receiver took it");
    hold();
    await page.goto(`${base}/deliveries`);
    await press(page, "Replays");
    await press(page, "New replay");
    await tabTo(page, "endpoint");
    await page.keyboard.press("ArrowDown");
    // The second box of the group `options` is Everything.
    for (const name of ["options", "options"]) await tabTo(page, name);
    await page.keyboard.press("Space");
    await press(page, "Count what it would send");
    await press(page, "Start the replay");
    await press(page, "Cancel the replay");
    await press(page, "Cancel the replay");
    expect(await wordsOf(page)).toContain("The replay is cancelled.");
  });
});
