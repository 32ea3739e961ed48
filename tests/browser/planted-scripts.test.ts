/**
 * Scripts in every text that others write: in titles, names, addresses, header values, phrases,
 * notes, answers of receivers, pasted webhooks, files and URLs. Every page that links reach shows
 * them as text.
 */
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
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
  const url = `${await openRefusing()}/hook?${new URLSearchParams({ x: planted })}`;
  const headers = { values: { "x-planted": planted } };
  await room.endpoints.createEndpoint({ tenantId, url, name: planted, description: `${planted} ${arabic}`, headers });
  for (const title of [planted, arabic, japanese, long]) {
    await room.transition(await room.push({ title }), "publish");
  }
  await vi.waitFor(() => expect(received).toBeGreaterThan(0), { timeout: 30_000 });
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

it("no page that links reach runs or draws what was planted, by itself or by its URL", async () => {
  await stack.browser.visit("about:blank", owner, async (page) => {
    const happened = await watch(page);
    const faults: string[] = [];
    const texts = new Map<string, string>();
    const reached = await crawlPages(page, `${stack.dev.console}/t/${tenantId}`, async (at, { url, kind }) => {
      texts.set(kind, await at.locator("body").innerText());
      if ((await plantedElements(at)) > 0) faults.push(kind);
      const names = [...new URL(url).searchParams.keys(), ...(await namesOf(at))];
      const query = new URLSearchParams(["done", "page", "return", ...names].map((name) => [name, planted]));
      await at.goto(`${url.split("?")[0]}?${query}`);
      if ((await plantedElements(at)) > 0) faults.push(`${kind} with a query`);
      await at.goto(url);
    });
    expect([faults, happened]).toEqual([[], []]);
    const kinds = reached.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["/t/evil/phrases", "/t/evil/keys", "/t/evil/members", "/newsrooms"]));
    for (const kind of ["/newsrooms", "/t/evil/phrases", "/t/evil/phrases/:id", "/t/evil/keys", "/t/evil/members"]) {
      expect([kind, texts.get(kind)?.includes(planted)]).toEqual([kind, true]);
    }
  });
});

/** Names of the query parameters that the forms of a page send. */
function namesOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    "Array.from(document.querySelectorAll('form[method=get] [name]'), ({ name }) => name)",
  );
}

it("a page that is not found runs and draws no script of its address", async () => {
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

it("a pasted webhook, its headers and a file with scripts are shown as text", async () => {
  await stack.browser.visit(`${stack.dev.console}/t/evil/trust-list/verify`, owner, async (page) => {
    const happened = await watch(page);
    await page
      .getByLabel("Headers")
      .fill(`webhook-id: ${planted}\nwebhook-timestamp: 1\nwebhook-signature: ${planted}`);
    const snapshot = { id: planted, type: "snapshot.usable", data: { signature: { keyId: planted } } };
    await page.getByLabel("Body").fill(JSON.stringify(snapshot));
    await page.getByLabel("Secret of the endpoint").fill(planted);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("Not genuine as it stands.").waitFor();
    expect(await page.locator("main").innerText()).toContain(`webhook-id is ${planted}`);
    expect(await plantedElements(page)).toBe(0);
    await page.goto(`${stack.dev.console}/t/evil/phrases/import`);
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
