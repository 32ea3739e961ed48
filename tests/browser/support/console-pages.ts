import { axeViolations } from "@vidimus/devstack/browser/axe-violations";
import { type OpenBrowser, type Visitor, views } from "@vidimus/devstack/browser/open-browser";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";

/** What a page says, on one line. */
export const wordsOf = async (page: Page) => (await page.locator("main").innerText()).replace(/\s+/g, " ");

/** What breaks WCAG 2.2 AA on a page, and whether it scrolls sideways, in each view. */
export async function faultsInViews(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const { width, scheme } of views) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    const found = await axeViolations(page);
    const { scrollWidth, clientWidth } = await page.evaluate<{ scrollWidth: number; clientWidth: number }>(
      "(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.documentElement)",
    );
    if (scrollWidth > clientWidth) found.push(`scrolls sideways to ${scrollWidth} px`);
    faults.push(...found.map((fault) => `${width} px, ${scheme}: ${fault}`));
  }
  return faults;
}

/** Bytes of a page with all that it loads, each file with gzip. */
export async function weightOf(browser: OpenBrowser, visitor: Visitor, url: string): Promise<number> {
  return browser.visit("about:blank", visitor, async (page) => {
    const sizes: Promise<number>[] = [];
    page.on("response", (response) => sizes.push(response.body().then((body) => gzipSync(body).length)));
    await page.goto(url, { waitUntil: "load" });
    return (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
  });
}

const presses = 150;

/** Presses Tab until a control with this name has the focus. */
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
