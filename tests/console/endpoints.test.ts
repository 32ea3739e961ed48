/**
 * Endpoints in a browser, with and without script: from the first ping to a receiver that stood
 * still.
 */
import type { Visitor } from "@vidimus/devstack/browser/open-browser";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { press, tabTo, wordsOf } from "./support/console-pages.ts";
import { type ConsoleStack, openConsoleStack } from "./support/open-console-stack.ts";
import { openStoppableReceiver, type StoppableReceiver } from "./support/stoppable-receiver.ts";

const opened = new AsyncDisposableStack();
let stack: ConsoleStack;
let room: Newsroom;
let owner: Visitor;
let base: string;
let receiver: StoppableReceiver;

beforeAll(async () => {
  stack = opened.use(await openConsoleStack());
  room = opened.use(openNewsroom(stack.dev));
  receiver = opened.use(await openStoppableReceiver());
  owner = await stack.signIn("ida");
  base = `${stack.dev.console}/t/demo`;
});
afterAll(() => opened.disposeAsync());

const publish = async () => room.transition(await room.push(), "publish");
const click = (page: Page, name: string) => page.getByRole("button", { name }).click();
const follow = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).first().click();

/** Reloads a page until its text matches; answers the text. */
async function until(page: Page, words: string | RegExp): Promise<string> {
  for (let count = 0; count < 240; count += 1) {
    const said = await wordsOf(page);
    if (typeof words === "string" ? said.includes(words) : words.test(said)) return said;
    await page.reload();
    await page.waitForTimeout(250);
  }
  throw new Error(`${page.url()} never said ${String(words)}, but: ${await wordsOf(page)}`);
}

/** Registers an endpoint by API; answers the address of its page. */
async function registered(name: string): Promise<string> {
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId: "demo", name, url: receiver.url });
  return `${base}/endpoints/${endpoint!.endpointId}`;
}

describe.each([{ script: true }, { script: false }])("with script $script", ({ script }) => {
  const visitor = () => ({ ...owner, script });
  const visit = <T>(url: string, look: (page: Page) => Promise<T>) => stack.browser.visit(url, visitor(), look);

  it("an endpoint is registered, pinged, shown as failing, sent its backlog after a ping, and deleted", async () => {
    const name = `Site ${script}`;
    await visit(base, async (page) => {
      await follow(page, "Endpoints");
      await follow(page, "New endpoint");
      await page.getByLabel("URL").fill(receiver.url);
      await page.getByLabel("Name (optional)").fill(name);
      await click(page, "Register the endpoint");
      expect(await wordsOf(page)).toContain("The receiver accepted a signed ping (204 No Content");
      await follow(page, "I have stored it");
      await click(page, "Post a ping");
      expect(await wordsOf(page)).toContain("The receiver accepted a signed ping");
      await receiver.stop();
      for (let count = 0; count < 8; count += 1) await publish();
      await follow(page, "Overview");
      expect(await until(page, `“${name}” fails again and again`)).toContain("no connection");
      const before = receiver.received.length;
      await receiver.start();
      await follow(page, "Look at the endpoint");
      expect(await wordsOf(page)).toContain("failing");
      await click(page, "Post a ping");
      expect(await wordsOf(page)).toContain("What waits for the endpoint is sent at once.");
      await follow(page, "To the endpoint");
      expect(await until(page, "nothing waits")).toContain("healthy");
      expect(receiver.received.length).toBeGreaterThanOrEqual(before + 8);
      await follow(page, "Delete");
      await click(page, "Delete the endpoint");
      expect(await wordsOf(page)).toContain("The endpoint is deleted");
    });
  });

  it("a double click registers one endpoint, and shows its secret or how to replace it", async () => {
    const name = `Twice ${script}`;
    await visit(`${base}/endpoints/new`, async (page) => {
      await page.getByLabel("URL").fill(receiver.url);
      await page.getByLabel("Name (optional)").fill(name);
      await page.getByRole("button", { name: "Register the endpoint" }).dblclick();
      await page.getByRole("heading", { name: `“${name}”` }).waitFor();
      // Without script both clicks send the form, and the answer to the first may have been
      // dropped.
      if ((await wordsOf(page)).includes("was made by the first click")) {
        await page.getByRole("link", { name: "Rotate its secret" }).click();
        expect(await wordsOf(page)).toContain(`Rotate the secret of “${name}”?`);
      } else {
        expect(await page.getByRole("textbox", { name: "Secret" }).inputValue()).toMatch(/^whsec_/);
      }
      await page.goto(`${base}/endpoints`);
      expect(await page.getByRole("link", { name, exact: true }).count()).toBe(1);
    });
  });

  it("a secret is not shown again by back or by reload", async () => {
    for (const [url, button] of [
      [`${base}/endpoints/new`, "Register the endpoint"],
      [`${await registered(`Rotates ${script}`)}/rotate`, "Rotate the secret"],
    ] as const) {
      await visit(url, async (page) => {
        if (url.endsWith("/new")) await page.getByLabel("URL").fill(receiver.url);
        await click(page, button);
        const secret = await page.getByRole("textbox", { name: "Secret" }).inputValue();
        expect(secret).toMatch(/^whsec_/);
        await page.reload();
        expect(await page.content()).not.toContain(secret);
        await page.goto(`${base}/endpoints`);
        await page.goBack().catch(() => undefined);
        await vi.waitFor(async () => expect(await page.content()).not.toContain(secret), 5_000);
      });
    }
  });

  it("the form of a new endpoint, sent after the session ended, can be sent again without retyping", async () => {
    const someone = { ...(await stack.signIn(`ends-${script}`)), script };
    await stack.browser.visit(`${base}/endpoints/new`, someone, async (page) => {
      await page.getByLabel("URL").fill(receiver.url);
      await page.getByLabel("Name (optional)").fill(`Typed ${script}`);
      const { cookies } = (await stack.signIn(`ends-${script}`)).kept!;
      await page.context().clearCookies();
      await click(page, "Register the endpoint");
      expect(await wordsOf(page)).toMatch(/Your session has ended.*Typed/);
      await page.context().addCookies(cookies);
      await click(page, "Send it again");
      expect(await wordsOf(page)).toContain(`“Typed ${script}” is registered`);
    });
  });

  it("of two edits of an endpoint the last one counts", async () => {
    const other = { ...(await stack.signIn(`second-${script}`)), script };
    const url = await registered(`Shared ${script}`);
    await stack.browser.visit(`${url}/edit`, other, async (late) => {
      await visit(`${url}/edit`, async (page) => {
        await page.getByLabel("Name (optional)").fill(`First ${script}`);
        await click(page, "Save");
        expect(await wordsOf(page)).toContain("The endpoint is changed.");
        await late.getByLabel("Name (optional)").fill(`Last ${script}`);
        await late.getByRole("button", { name: "Save" }).click();
        await page.reload();
        expect(await wordsOf(page)).toContain(`Last ${script}`);
      });
    });
  });

  it("an edit of an endpoint that was deleted meanwhile is refused", async () => {
    const url = await registered(`Deleted ${script}`);
    await visit(`${url}/edit`, async (late) => {
      await visit(`${url}/delete`, async (page) => {
        await click(page, "Delete the endpoint");
        await page.getByText("The endpoint is deleted").waitFor();
      });
      await late.getByRole("button", { name: "Save" }).click();
      expect(await wordsOf(late)).toMatch(/not found|no endpoint/i);
    });
  });
});

it("keyboard alone makes, pings, edits, pauses, starts and deletes an endpoint, and rotates its secret", async () => {
  await stack.browser.visit(`${base}/endpoints`, owner, async (page) => {
    await press(page, "New endpoint");
    await tabTo(page, "url");
    await page.keyboard.type(receiver.url);
    await tabTo(page, "name");
    await page.keyboard.type("By keyboard");
    await press(page, "Register the endpoint");
    await press(page, "I have stored it");
    await press(page, "Post a ping");
    expect(await wordsOf(page)).toContain("The receiver accepted a signed ping");
    await press(page, "To the endpoint");
    await press(page, "Edit");
    await tabTo(page, "name");
    await page.keyboard.type(", edited");
    await press(page, "Save");
    expect(await wordsOf(page)).toContain("The endpoint is changed.");
    await press(page, "Pause");
    await press(page, "Start");
    expect(await wordsOf(page)).toContain("The endpoint is started.");
    await press(page, "Rotate the secret");
    await press(page, "Rotate the secret");
    await press(page, "I have stored it");
    await press(page, "Delete");
    await press(page, "Delete the endpoint");
    expect(await wordsOf(page)).toContain("The endpoint is deleted");
  });
});

it("an endpoint's page leads to the replays to the endpoint", async () => {
  const url = await registered("Replayed");
  await stack.browser.visit(url, owner, async (page) => {
    await follow(page, "Replays to it");
    expect(await wordsOf(page)).toContain("This endpoint had no replay in the last 30 days.");
  });
});

it("an endpoint's page leads to the form for a new replay to the endpoint", async () => {
  const url = await registered("Replayed anew");
  await stack.browser.visit(url, owner, async (page) => {
    await page.getByRole("main").getByRole("link", { name: "New replay" }).click();
    expect(await page.getByLabel("Endpoint", { exact: true }).inputValue()).toBe(url.split("/").at(-1));
  });
});
