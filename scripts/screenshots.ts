/**
 * `npm run screenshots [-- [--state FOLDER] [PATH…]]`: makes pictures of pages of the running dev
 * stack, 1,280 and 390 px wide in both colour schemes, in FOLDER/screenshots (FOLDER is .vidimus by
 * default). Without a PATH: of one page of each kind that links lead to from the API reference or,
 * signed in as `operator`, from the console, and of the answers to the console's forms. Keys,
 * invitations, phrases, endpoints that fail, and a published tag then stay in the stack.
 */
import { openAnswer } from "@vidimus/devstack/browser/console-answer";
import { consoleAnswers } from "@vidimus/devstack/browser/console-answers";
import { crawlPages, kindOf } from "@vidimus/devstack/browser/crawl-pages";
import { openBrowser, showIn, type View, views } from "@vidimus/devstack/browser/open-browser";
import { signInByLink } from "@vidimus/devstack/browser/sign-in";
import { stateDir } from "@vidimus/devstack/paths";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { openWebhookDesk, untilThere } from "./webhook-desk.ts";

const { values, positionals } = parseArgs({ options: { state: { type: "string" } }, allowPositionals: true });
const state = values.state === undefined ? stateDir : resolve(values.state);
const folder = join(state, "screenshots");
await mkdir(folder, { recursive: true });
const dev = await readDevJson(state);
const origin = dev?.console;
if (!dev || origin === undefined) throw new Error(`no dev stack with a console runs in ${state}: npm start`);
const newLink = async () => (await makeConsoleLink(dev)) ?? "";
await using browser = await openBrowser();
const stranger: View = { width: 1280, scheme: "light" };
const operator = await signInByLink(browser, await newLink(), stranger);

const urls = positionals.map((path) => new URL(path, path.startsWith("/docs") ? dev.gateway : origin).href);
for (const url of urls) await browser.visit(url, isOpen(url) ? stranger : operator, takePictures);
if (urls.length === 0) {
  const { webhook, replays } = await useDesk(dev);
  const setting = { base: `${origin}/t/demo`, text: "Gotland", receiver: "http://127.0.0.1:1/hook", webhook, newLink };
  for (const answer of consoleAnswers) {
    await browser.visit("about:blank", operator, async (page) => {
      await openAnswer(page, answer, setting);
      await takePictures(page, answer.name);
    });
  }
  await takePages(`${dev.gateway}/docs`);
  await takePages(`${origin}/`, "/sign-in", "/invitation", "/nothing-here", ...replays);
}

/** Whether a picture of the page is taken without a session. */
function isOpen(url: string): boolean {
  return ["/docs", "/sign-in"].some((path) => new URL(url).pathname.startsWith(path));
}

async function takePages(start: string, ...paths: readonly string[]): Promise<void> {
  const starts: [string, ...string[]] = [start, ...paths.map((path) => new URL(path, start).href)];
  await browser.visit("about:blank", operator, (page) => crawlPages(page, starts, (at) => takePictures(at)));
}

/**
 * Has the stack send a webhook, and begin a replay, which waits because its endpoint is disabled.
 * Returns the webhook with one letter changed, so that its check fails, the secret of its endpoint,
 * and the paths of the replay and of the page that counts what a new replay would send.
 */
async function useDesk(stack: DevJson) {
  await using desk = await openWebhookDesk(stack);
  const path = "/v1/webhooks/endpoints";
  type Made = { endpoint: { id: string }; secret: string };
  const { endpoint, secret } = await desk.call<Made>("POST", path, { url: desk.receiverUrl, name: "Archive" });
  const id = await desk.publish();
  const { headers, body } = await untilThere("a webhook", () => desk.arrived.find((each) => each.body.includes(id)));
  await desk.call("POST", `${path}/${endpoint.id}/disable`);
  type Started = { replay: { id: string } };
  const { replay } = await desk.call<Started>("POST", `${path}/${endpoint.id}/replays`, { all: true });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return {
    webhook: { headers: lines.join("\n"), body: body.toString().replace("Väder", "Vader"), secret },
    replays: [`/t/demo/replays/${replay.id}`, `/t/demo/replays/count?endpoint=${endpoint.id}&options=all`],
  };
}

/** Does nothing for other content than HTML, such as JSON. */
async function takePictures(page: Page, called = kindOf(new URL(page.url()))): Promise<void> {
  if ((await page.evaluate("document.contentType")) !== "text/html") return;
  const name = called.replace(/\W+/g, "-").replace(/^-|-$/g, "") || "start";
  for (const view of views) {
    await showIn(page, view);
    const file = join(folder, `${name}-${view.width}-${view.scheme}.png`);
    await page.screenshot({ path: file, fullPage: true });
    console.log(file);
  }
}
