/** What is true of every page of endpoints, deliveries, replays, the overview and the verification. */
import type { Visitor } from "@vidimus/devstack/browser/open-browser";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { slowRoutes } from "../../packages/console/test/support/rpc-rounds.ts";
import { type BusyNewsroom, openBusyNewsroom } from "./support/busy-newsroom.ts";
import { faultsInViews, weightOf, wordsOf } from "./support/console-pages.ts";
import { type ConsoleStack, openConsoleStack } from "./support/open-console-stack.ts";

const opened = new AsyncDisposableStack();
const arabic = "نشرة الأخبار العاجلة من الميناء";
const japanese = "速報デスク".repeat(30);
const texts = ["n".repeat(200), arabic, japanese];
/** Most bytes of a page with all that it loads, each file with gzip. */
const bytesMax = 40_000;
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

const paths = () => {
  const { endpointIds, deliveryId, replayId } = busy;
  const { healthy, failing, paused, slow } = endpointIds;
  return [
    "",
    "/endpoints",
    "/endpoints/new",
    ...[healthy, failing, paused].map((id) => `/endpoints/${id}`),
    ...["edit", "rotate", "delete"].map((word) => `/endpoints/${healthy}/${word}`),
    "/endpoints/00000000-0000-4000-8000-000000000000",
    "/deliveries",
    "/deliveries?state=exhausted",
    "/deliveries?document=no-id",
    `/deliveries/${deliveryId}`,
    "/replays",
    `/replays?endpoint=${slow}`,
    "/replays/new",
    "/replays/count",
    `/replays/count?endpoint=${slow}&options=all`,
    `/replays/${replayId}`,
    `/replays/${replayId}/cancel`,
    "/trust-list/verify",
  ];
};

/** Forms whose answer is a page of its own, each filled and sent. */
const answers: readonly (readonly [string, (page: Page) => Promise<void>])[] = [
  [
    "the secret of a new endpoint",
    async (page) => {
      await page.goto(`${base}/endpoints/new`);
      await page.getByLabel("URL").fill("http://127.0.0.1:1/hook");
      await page.getByRole("button", { name: "Register the endpoint" }).click();
      await page.getByRole("textbox", { name: "Secret" }).waitFor();
    },
  ],
  [
    "a form that was sent before",
    async (page) => {
      await page.goto(`${base}/endpoints/new`);
      await page.getByLabel("URL").fill("http://127.0.0.1:1/hook");
      await page.getByRole("button", { name: "Register the endpoint" }).click();
      await page.getByRole("textbox", { name: "Secret" }).waitFor();
      await page.reload();
      await page.getByText("made by the first click").waitFor();
    },
  ],
  [
    "the faults of an endpoint",
    async (page) => {
      await page.goto(`${base}/endpoints/new`);
      await page.getByLabel("URL").fill("http://user:pass@127.0.0.1/hook");
      await page.getByRole("button", { name: "Register the endpoint" }).click();
      await page.getByRole("alert").waitFor();
    },
  ],
  [
    "a new secret",
    async (page) => {
      await page.goto(`${base}/endpoints/${busy.endpointIds.paused}/rotate`);
      await page.getByRole("button", { name: "Rotate the secret" }).click();
      await page.getByRole("textbox", { name: "Secret" }).waitFor();
    },
  ],
  [
    "a ping that was refused",
    async (page) => {
      await page.goto(`${base}/endpoints/${busy.endpointIds.failing}`);
      await page.getByRole("button", { name: "Post a ping" }).click();
      await page.getByText("did not accept a ping").waitFor();
    },
  ],
  [
    "the checks of a webhook",
    async (page) => {
      await page.goto(`${base}/trust-list/verify`);
      await page.getByLabel("Headers").fill(`webhook-id: ${"w".repeat(300)}\nwebhook-timestamp: 1`);
      await page.getByLabel("Body").fill('{"id":"w"}');
      await page.getByRole("button", { name: "Verify" }).click();
      await page.getByText("12 checks").waitFor();
    },
  ],
];

it("no page that is read breaks WCAG 2.2 AA or scrolls sideways, at any width, in any scheme", async () => {
  await stack.browser.visit("about:blank", owner, async (page) => {
    const faults: string[] = [];
    for (const path of paths()) {
      await page.goto(`${base}${path}`);
      faults.push(...(await faultsInViews(page)).map((fault) => `${path}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });
});

it("no answer to a form breaks WCAG 2.2 AA or scrolls sideways, at any width, in any scheme", async () => {
  await stack.browser.visit("about:blank", owner, async (page) => {
    const faults: string[] = [];
    for (const [name, open] of answers) {
      await open(page);
      faults.push(...(await faultsInViews(page)).map((fault) => `${name}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });
});

it("long, Arabic and Japanese texts are shown whole, each in its own direction", async () => {
  await stack.browser.visit(`${base}/endpoints/${busy.endpointIds.healthy}`, { ...owner, width: 390 }, async (page) => {
    const said = await wordsOf(page);
    for (const text of texts) expect(said).toContain(text);
    const direction = "getComputedStyle(Array.from(document.querySelectorAll('main p[dir=auto]')).at(-1)).direction";
    expect(await page.evaluate(direction)).toBe("rtl");
  });
});

it("no page weighs more than 40 kB gzip with all that it loads", async () => {
  for (const path of paths()) {
    const bytes = await weightOf(stack.browser, owner, `${base}${path}`);
    expect([path, bytes > 2_000, bytes < bytesMax]).toEqual([path, true, true]);
  }
});

it("no page took more than two rounds of calls", async () => {
  const ops = `http://127.0.0.1:${stack.ports["CONSOLE_OPS_PORT"]}`;
  expect(await slowRoutes(ops)).toEqual([]);
});
