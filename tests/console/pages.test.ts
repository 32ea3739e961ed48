/** What is true of every page of the console, and of every answer to a form. */
import { consoleAnswers } from "@vidimus/devstack/browser/console-answers";
import { openAnswer } from "@vidimus/devstack/browser/console-answer";
import { crawlPages } from "@vidimus/devstack/browser/crawl-pages";
import type { Visitor } from "@vidimus/devstack/browser/open-browser";
import { signInByLink } from "@vidimus/devstack/browser/sign-in";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slowRoutes } from "../../packages/console/test/support/rpc-rounds.ts";
import { type BusyNewsroom, openBusyNewsroom } from "./support/busy-newsroom.ts";
import { crawlStarts, faultsInViews, pageKinds, weightOf, wordsOf } from "./support/console-pages.ts";
import { type ConsoleStack, openConsoleStack } from "./support/open-console-stack.ts";
import { openCutOffConsole } from "./support/open-cut-off-console.ts";

const opened = new AsyncDisposableStack();
const arabic = "نشرة الأخبار العاجلة من الميناء";
const japanese = "速報デスク".repeat(30);
const texts = ["n".repeat(200), arabic, japanese];
/** Most bytes of a page with all that it loads, each file with gzip. */
const bytesMax = 40_000;
/** Time limit of a test that looks at every page or answer in every view. */
const everyPageMs = 300_000;
let stack: ConsoleStack;
let busy: BusyNewsroom;
let owner: Visitor;
let base: string;

beforeAll(async () => {
  stack = opened.use(await openConsoleStack());
  busy = opened.use(await openBusyNewsroom(stack.dev, texts));
  owner = await stack.signIn("ida");
  base = `${stack.dev.console}/t/demo`;
});
afterAll(() => opened.disposeAsync());

describe("every page", () => {
  let kinds: Set<string>;
  let urls: string[];

  beforeAll(async () => {
    const { endpointIds, deliveryId, replayId } = busy;
    const { healthy, failing, paused, slow } = endpointIds;
    const starts = crawlStarts(stack.dev.console!, "demo", { endpointId: slow, replayId, owner: "ida" });
    const narrowed = ["/keys?state=all", "/deliveries?state=exhausted", "/phrases?contains=x&language=fi"];
    const chosen = [
      `/deliveries/${deliveryId}`,
      `/endpoints/${healthy}`,
      `/replays?endpoint=${slow}`,
      "/replays/count",
    ];
    for (const path of [...chosen, ...narrowed]) {
      starts.push(`${base}${path}`);
    }
    const reached = await stack.browser.visit("about:blank", owner, (page) => crawlPages(page, starts, async () => {}));
    // A count without an endpoint shows the form with its fault.
    const failed = reached.filter(({ kind, status }) => status !== 200 && kind !== "/t/demo/replays/count");
    expect(failed).toEqual([]);
    kinds = new Set(reached.map(({ kind }) => kind.split("?")[0]!));
    // Pages of kinds that were reached, in other states.
    const others = [failing, paused, "00000000-0000-4000-8000-000000000000"].map((id) => `${base}/endpoints/${id}`);
    // The documentation of the API is another origin's; `docs.test.ts` looks at it.
    const own = reached.filter(({ kind }) => kind !== "/docs");
    urls = [...own.map(({ url }) => url), ...others, `${base}/deliveries?document=no-id`, `${base}/nothing-here`];
  });

  it("is where the crawl starts, or is reached from there by links", () => {
    expect(pageKinds("demo").filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  it(
    "keeps axe's WCAG 2.2 AA rules in 4 views and scrolls sideways at none of 4 widths",
    async () => {
      await stack.browser.visit("about:blank", owner, async (page) => {
        const faults: string[] = [];
        for (const url of urls) {
          await page.goto(url);
          faults.push(...(await faultsInViews(page)).map((fault) => `${url}: ${fault}`));
        }
        expect(faults).toEqual([]);
      });
    },
    everyPageMs,
  );

  it("weighs at most 40 kB gzip with all that it loads", async () => {
    for (const url of urls) {
      const bytes = await weightOf(stack.browser, owner, url);
      expect([url, bytes > 2_000, bytes < bytesMax]).toEqual([url, true, true]);
    }
  });
});

it(
  "the answers to forms in consoleAnswers keep axe's WCAG 2.2 AA rules and do not scroll sideways",
  async () => {
    const setting = {
      base,
      text: texts[0]!,
      receiver: "http://127.0.0.1:1/hook",
      webhook: { headers: `webhook-id: ${"w".repeat(300)}\nwebhook-timestamp: 1`, body: '{"id":"w"}', secret: "" },
      newLink: () => stack.newLink("ida"),
    };
    const faults: string[] = [];
    for (const answer of consoleAnswers) {
      await stack.browser.visit("about:blank", owner, async (page) => {
        await openAnswer(page, answer, setting);
        faults.push(...(await faultsInViews(page)).map((fault) => `${answer.name}: ${fault}`));
      });
    }
    expect(faults).toEqual([]);
  },
  everyPageMs,
);

it("pages whose services do not answer keep axe's WCAG 2.2 AA rules and do not scroll sideways", async () => {
  await using cutOff = await openCutOffConsole(stack.dev);
  const link = new URL(await stack.newLink("ida"));
  const visitor = await signInByLink(stack.browser, `${cutOff.origin}/sign-in${link.hash}`, {
    width: 1280,
    scheme: "light",
  });
  await stack.browser.visit("about:blank", visitor, async (page) => {
    const at = `${cutOff.origin}/t/demo`;
    const lacking: string[] = [];
    const faults: string[] = [];
    await crawlPages(page, [at, `${at}/phrases/01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77`], async (_, { kind }) => {
      if (!(await wordsOf(page)).includes("does not answer")) return;
      lacking.push(kind.replace("/t/demo", ""));
      faults.push(...(await faultsInViews(page)).map((fault) => `${kind}: ${fault}`));
    });
    expect(faults).toEqual([]);
    const parts = ["", "/audit", "/deliveries", "/endpoints", "/phrases", "/replays", "/trust-list"];
    expect(lacking).toEqual(expect.arrayContaining([...parts, "/phrases/:id", "/replays/new"]));
  });
});

describe("a text typed into a form", () => {
  /** Types a text as it would be pasted, sends the form, and answers the status of the answer. */
  async function paste(page: Page, label: string, text: string, button: string): Promise<number> {
    await page.getByLabel(label, { exact: true }).fill("");
    await page.keyboard.insertText(text);
    const sent = page.waitForResponse((response) => response.request().method() === "POST");
    await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: button }).click()]);
    return (await sent).status();
  }

  const path = {
    "new key": () => "/keys/new",
    "new endpoint": () => "/endpoints/new",
    "edited endpoint": () => `/endpoints/${busy.endpointIds.healthy}/edit`,
    invitation: () => "/members/invite",
    "new phrase": () => "/phrases/new?language=sv",
  };

  it.each<[form: keyof typeof path, label: string, button: string, rest: (page: Page) => Promise<void>]>([
    ["new key", "Name", "Make the key", (page) => page.getByLabel("publisher:read").check()],
    [
      "new endpoint",
      "Name (optional)",
      "Register the endpoint",
      (page) => page.getByLabel("URL").fill("http://127.0.0.1:1/hook"),
    ],
    ["edited endpoint", "Name (optional)", "Save", async () => {}],
    ["invitation", "For whom", "Make the invitation", (page) => page.getByLabel("editor").check()],
    ["new phrase", "Phrase", "Add", async () => {}],
  ])(
    "of 300 characters is refused, and stays in its field, which is marked as invalid: %s",
    async (form, label, button, rest) => {
      const long = "n".repeat(300);
      await stack.browser.visit(`${base}${path[form]()}`, owner, async (page) => {
        await rest(page);
        expect(await paste(page, label, long, button)).toBe(400);
        const field = page.getByLabel(label, { exact: true });
        expect(await field.inputValue()).toBe(long);
        expect(await field.getAttribute("aria-invalid")).toBe("true");
      });
    },
  );

  it("may be 101 emoji as the name of a key, although they are more than 200 UTF-16 units", async () => {
    const seals = "🦭".repeat(101);
    await stack.browser.visit(`${base}/keys/new`, owner, async (page) => {
      await page.getByLabel("publisher:read").check();
      expect(await paste(page, "Name", seals, "Make the key")).toBe(200);
      expect(await wordsOf(page)).toContain(`“${seals}” is made`);
    });
  });
});

it("a document's title of 300 characters is shown whole on its delivery's page and the browser's tab", async () => {
  await stack.browser.visit(`${base}/deliveries/${busy.deliveryId}`, { ...owner, width: 390 }, async (page) => {
    const title = await page.getByRole("heading", { level: 1 }).innerText();
    expect(title).toHaveLength(300);
    expect(await page.title()).toBe(`${title} · Vidimus`);
  });
});

it("an endpoint's page shows long, Arabic and Japanese texts whole", async () => {
  await stack.browser.visit(`${base}/endpoints/${busy.endpointIds.healthy}`, { ...owner, width: 390 }, async (page) => {
    const said = await wordsOf(page);
    for (const text of texts) expect(said).toContain(text);
  });
});

it("a text that begins in Arabic runs from right to left, while the heading runs from left to right", async () => {
  await stack.browser.visit(`${base}/endpoints/${busy.endpointIds.healthy}`, owner, async (page) => {
    const direction = "getComputedStyle(Array.from(document.querySelectorAll('main p[dir=auto]')).at(-1)).direction";
    expect(await page.evaluate(direction)).toBe("rtl");
    expect(await page.evaluate("getComputedStyle(document.querySelector('main h1')).direction")).toBe("ltr");
  });
});

it("no request to the stack's console in the tests above took more than two rounds of calls to services", async () => {
  const ops = `http://127.0.0.1:${stack.ports["CONSOLE_OPS_PORT"]}`;
  expect(await slowRoutes(ops)).toEqual([]);
});
