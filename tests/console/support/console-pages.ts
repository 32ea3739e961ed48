import { type RoutesDeps, routes } from "@vidimus/console/pages/routes";
import { urlOf } from "@vidimus/console/http/mount-routes";
import { axeViolations } from "@vidimus/devstack/browser/axe-violations";
import { type OpenBrowser, showIn, type Visitor, views, widths } from "@vidimus/devstack/browser/open-browser";
import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";

export const wordsOf = async (page: Page) => (await page.locator("main").innerText()).replace(/\s+/g, " ");

/** Routes that answer with a file, which a browser saves instead of showing it. */
const files = new Set(["/t/:tenant/phrases/export", "/t/:tenant/deliveries/:delivery/body"]);

/** The kinds of all pages of the console; see `kindOf` in `crawl-pages.ts`. */
export function pageKinds(tenantId: string): string[] {
  return routes({} as RoutesDeps)
    .flatMap((route) => (route.method === "GET" ? [urlOf(route)] : []))
    .filter((url) => !url.startsWith("/look/") && !files.has(url))
    .map((url) => url.replace(":tenant", tenantId).replaceAll(/:\w+/g, ":id"));
}

interface Crawled {
  readonly endpointId: string;
  readonly replayId: string;
  /** Name under which the tenant's owner has signed in. */
  readonly owner: string;
}

/** Where a crawl of every page begins: the start page, and pages to which there may be no link. */
export function crawlStarts(
  origin: string,
  tenantId: string,
  { endpointId, replayId, owner }: Crawled,
): [string, ...string[]] {
  const base = `${origin}/t/${tenantId}`;
  const memberId = personActor({ issuer: linkIssuer, subject: owner });
  return [
    `${origin}/`,
    `${origin}/sign-in`,
    `${origin}/invitation`,
    `${base}/replays/count?${new URLSearchParams({ endpoint: endpointId, options: "all" })}`,
    `${base}/replays/${replayId}/cancel`,
    `${base}/members/${memberId}/remove`,
  ];
}

/** What breaks WCAG 2.2 AA on a page, in each view, and the widths at which it scrolls sideways. */
export async function faultsInViews(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of widths) {
    await showIn(page, { width, scheme: "light" });
    const { scrollWidth, clientWidth } = await page.evaluate<{ scrollWidth: number; clientWidth: number }>(
      "(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.documentElement)",
    );
    if (scrollWidth > clientWidth) faults.push(`${width} px: scrolls sideways to ${scrollWidth} px`);
  }
  for (const view of views) {
    await showIn(page, view);
    const found = await axeViolations(page);
    faults.push(...found.map((fault) => `${view.width} px, ${view.scheme}: ${fault}`));
  }
  return faults;
}

/** Bytes of a page with all that it loads, each file with gzip. */
export async function weightOf(browser: OpenBrowser, visitor: Visitor, url: string): Promise<number> {
  return browser.visit("about:blank", visitor, async (page) => {
    const sizes: Promise<number>[] = [];
    page.on("response", (response) => {
      const isRedirect = response.headers()["location"] !== undefined;
      if (!isRedirect) sizes.push(response.body().then((body) => gzipSync(body).length));
    });
    await page.goto(url, { waitUntil: "load" });
    return (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
  });
}

const presses = 150;

/** Presses Tab until a control with this label, text or `name` has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const focused = `(() => { const at = document.activeElement;
    return [at.getAttribute("aria-label"), at.labels?.[0]?.innerText, at.textContent, at.name].map((each) => (each ?? "").trim()); })()`;
  for (let count = 0; count < presses; count += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate<string[]>(focused)).includes(name)) return;
  }
  throw new Error(`no control "${name}" gets the focus on ${page.url()}`);
}

/** Presses Enter on the control with a name, and waits for the page that it leads to. */
export async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
}
