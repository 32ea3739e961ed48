/**
 * Scripts in every text that others write: in titles, names, addresses, header values, phrases,
 * notes, answers of receivers, pasted webhooks, files and URLs. Every page that links reach shows
 * them as text.
 */
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { openAnswer } from "@vidimus/devstack/browser/console-answer";
import { consoleAnswers } from "@vidimus/devstack/browser/console-answers";
import { crawlPages } from "@vidimus/devstack/browser/crawl-pages";
import type { Visitor } from "@vidimus/devstack/browser/open-browser";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { as, openNewsroom } from "../support/newsroom.ts";
import { asAdmin, openTenants } from "../support/tenants.ts";
import { crawlStarts, pageKinds } from "./support/console-pages.ts";
import { type ConsoleStack, openConsoleStack } from "./support/open-console-stack.ts";

const opened = new AsyncDisposableStack();
const tenantId = "evil";
/**
 * On a page that takes this text for markup, the text draws an element, ends an attribute or runs a
 * script.
 */
const planted = `"'><b data-planted>x</b><img src=x onerror=planted()><script>planted()</script>`;
const arabic = "‮نشرة الأخبار <b data-planted>";
const japanese = "速報 <script>planted()</script>";
const long = `<i data-planted>${"長".repeat(80)}`;
let stack: ConsoleStack;
let owner: Visitor;
let received = 0;
/** URL of a receiver that answers with a page of scripts. */
let receiver: string;
let endpointId: string;
let replayId: string;

beforeAll(async () => {
  stack = opened.use(await openConsoleStack());
  const { dev } = stack;
  const tenants = opened.use(openTenants(dev));
  await tenants.access.createTenant({ tenantId, name: planted }, asAdmin);
  for (const name of [planted, arabic, japanese, long]) {
    await tenants.access.createApiKey({ tenantId, name, scopes: ["publisher:read"] }, asAdmin);
  }
  using members = openDevClient(dev, "access", MemberService);
  for (const note of [planted, arabic]) await members.inviteMember({ tenantId, roles: ["editor"], note }, as("owner"));
  using phrases = openDevClient(dev, "phrases", PhraseService);
  for (const phrase of [planted, arabic, japanese, long]) {
    const json = { language: "mul", phrase, commonMistakes: [`${phrase} 2`], description: phrase };
    await phrases.upsertPhrase({ tenantId, phraseJson: Buffer.from(JSON.stringify(json)) }, as("owner"));
  }
  const { key } = await tenants.issue(tenantId);
  const room = opened.use(openNewsroom({ ...dev, tenants: [{ id: tenantId, apiKey: key }] }, tenantId));
  receiver = `${await openRefusing()}/hook?${new URLSearchParams({ x: planted })}`;
  const headers = { values: { "x-planted": planted } };
  const texts = { name: planted, description: `${planted} ${arabic}` };
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId, url: receiver, headers, ...texts });
  ({ endpointId } = endpoint!);
  for (const title of [planted, arabic, japanese, long]) {
    await room.transition(await room.push({ title }), "publish");
  }
  await vi.waitFor(() => expect(received).toBeGreaterThan(0), { timeout: 30_000 });
  using log = openDevClient(dev, "delivery", DeliveryLogService);
  const { replay } = await log.startReplay({ tenantId, endpointId, all: true }, as("admin"));
  ({ replayId } = replay!);
  owner = await stack.signIn("mallory", { tenant: tenantId });
});
afterAll(() => opened.disposeAsync());

/** A receiver that answers with a page of scripts. */
async function openRefusing(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    received += 1;
    response.writeHead(503, { "content-type": "text/html", "x-planted": planted }).end(planted);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Collects what should not happen on any page of a browser's tab. */
async function watch(page: Page): Promise<string[]> {
  const happened: string[] = [];
  await page.exposeFunction("planted", () => void happened.push(`ran on ${page.url()}`));
  page.on("dialog", (dialog) => void (happened.push(`dialog on ${page.url()}`), dialog.dismiss()));
  page.on("console", (message) => {
    if (/content security policy|refused to|trusted/i.test(message.text())) happened.push(message.text());
  });
  page.on("request", (request) => {
    // The navigation leads to the documentation of the API, which is another origin's.
    if (request.url() === `${stack.dev.gateway}/docs`) return;
    if (new URL(request.url()).origin !== stack.dev.console) happened.push(`asked for ${request.url()}`);
  });
  return happened;
}

const plantedElements = (page: Page) =>
  page.evaluate<number>("document.querySelectorAll('[data-planted], main script, main img').length");

it("a page that took the planted text for markup would fail these tests", async () => {
  await stack.browser.visit("about:blank", owner, async (page) => {
    const happened = await watch(page);
    await page.setContent(`<main title='${planted}'></main>`);
    await vi.waitFor(() => expect(happened.filter((each) => each.startsWith("ran on"))).not.toEqual([]));
    expect(await plantedElements(page)).toBeGreaterThan(0);
  });
});

it("no page takes for markup what was planted in its data or in its query", async () => {
  await stack.browser.visit("about:blank", owner, async (page) => {
    const happened = await watch(page);
    const faults: string[] = [];
    const texts = new Map<string, string>();
    const starts = crawlStarts(stack.dev.console!, tenantId, { endpointId, replayId, owner: "mallory" });
    const reached = await crawlPages(page, starts, async (at, { url, kind }) => {
      texts.set(kind, await at.locator("body").innerText());
      if ((await plantedElements(at)) > 0) faults.push(kind);
      const names = [...new URL(url).searchParams.keys(), ...(await namesOf(at))];
      const query = new URLSearchParams(["done", "page", "return", ...names].map((name) => [name, planted]));
      await at.goto(`${url.split("?")[0]}?${query}`);
      if ((await plantedElements(at)) > 0) faults.push(`${kind} with a query`);
      await at.goto(url);
    });
    expect([faults, happened]).toEqual([[], []]);
    expect(reached.filter(({ status }) => status !== 200)).toEqual([]);
    const kinds = new Set(reached.map(({ kind }) => kind.split("?")[0]));
    expect(pageKinds(tenantId).filter((kind) => !kinds.has(kind))).toEqual([]);
    expect([...texts].filter(([, text]) => text.includes(planted)).map(([kind]) => kind)).toEqual(
      expect.arrayContaining(["/newsrooms", ...plantedOn.map((path) => `/t/evil${path}`)]),
    );
  });
});

/** Pages that show the planted text. */
const plantedOn = [
  "",
  "/audit",
  "/deliveries",
  "/deliveries/:id",
  "/endpoints",
  "/endpoints/:id",
  "/keys",
  "/members",
  "/phrases",
  "/phrases/:id",
  "/replays/:id",
];

it("no answer to a form in consoleAnswers takes planted text for markup", async () => {
  const headers = `webhook-id: ${planted}\nwebhook-timestamp: 1`;
  const setting = {
    base: `${stack.dev.console}/t/${tenantId}`,
    text: planted,
    receiver,
    webhook: { headers, body: JSON.stringify({ id: planted }), secret: planted },
    newLink: () => stack.newLink("mallory", { tenant: tenantId }),
  };
  const without: string[] = [];
  for (const answer of consoleAnswers) {
    await stack.browser.visit("about:blank", owner, async (page) => {
      const happened = await watch(page);
      await openAnswer(page, answer, setting);
      expect([answer.name, happened, await plantedElements(page)]).toEqual([answer.name, [], 0]);
      if (!(await shownOn(page)).includes(planted)) without.push(answer.name);
    });
  }
  expect(without).toEqual([
    "an invitation that has ended",
    "the faults of a member's roles",
    "a code that has ended",
    "a file after the end of the session",
    "the end of a session",
  ]);
});

/** What a page shows beside its navigation: its text, and the values of its fields. */
function shownOn(page: Page): Promise<string> {
  return page.evaluate<string>(
    `[document.querySelector("main").innerText,
      ...Array.from(document.querySelectorAll("main input, main textarea"), ({ value }) => value)].join()`,
  );
}

/** Names of the query parameters that the forms of a page send. */
function namesOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    "Array.from(document.querySelectorAll('form[method=get] [name]'), ({ name }) => name)",
  );
}

it("a page that is not found does not take planted text in its address for markup", async () => {
  await stack.browser.visit("about:blank", owner, async (page) => {
    const happened = await watch(page);
    const part = encodeURIComponent(planted);
    for (const path of [
      `/${part}`,
      `/t/${part}`,
      `/t/evil/${part}`,
      `/t/evil/phrases/${part}`,
      `/t/evil/keys/${part}`,
    ]) {
      await page.goto(`${stack.dev.console}${path}`);
      expect([path, await plantedElements(page), await page.getByRole("heading", { level: 1 }).innerText()]).toEqual([
        path,
        0,
        expect.stringMatching(/not found/i),
      ]);
    }
    expect(happened).toEqual([]);
  });
});

it("planted text in the headers and body of a pasted webhook is not taken for markup", async () => {
  await stack.browser.visit(`${stack.dev.console}/t/evil/trust-list/verify`, owner, async (page) => {
    const happened = await watch(page);
    await page
      .getByLabel("Headers")
      .fill(`webhook-id: ${planted}\nwebhook-timestamp: 1\nwebhook-signature: ${planted}`);
    const snapshot = { id: planted, type: "snapshot.usable", data: { signature: { keyId: planted } } };
    await page.getByLabel("Body").fill(JSON.stringify(snapshot));
    await page.getByLabel("Secret of the endpoint").fill(planted);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("Not genuine as it stands").waitFor();
    expect(await page.locator("main").innerText()).toContain(`webhook-id is ${planted}`);
    expect(await plantedElements(page)).toBe(0);
    expect(happened).toEqual([]);
  });
});

it("the rows of a file with scripts are shown as text", async () => {
  await stack.browser.visit(`${stack.dev.console}/t/evil/phrases/import`, owner, async (page) => {
    const happened = await watch(page);
    const csv = `language,phrase\n${japanese},${japanese}\n`;
    await page
      .getByLabel("CSV file")
      .setInputFiles({ name: `${planted}.csv`, mimeType: "text/csv", buffer: Buffer.from(csv) });
    await page.getByRole("button", { name: "Import" }).first().click();
    await page.getByRole("alert").waitFor();
    expect(await page.locator("main").innerText()).toContain(`${japanese},${japanese}`);
    expect(await plantedElements(page)).toBe(0);
    expect(happened).toEqual([]);
  });
});
