import { axeViolations } from "@vidimus/devstack/browser/axe-violations";
import { openBrowser, type OpenBrowser, type View, views } from "@vidimus/devstack/browser/open-browser";
import { publicDocs } from "@vidimus/gateway/api-docs/api-docs";
import { docsRoutes } from "@vidimus/gateway/api-docs/docs-routes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveRoutes } from "../../services/gateway/test/support/serve-routes.ts";

let browser: OpenBrowser;
let server: Awaited<ReturnType<typeof serveRoutes>>["server"];

beforeAll(async () => {
  browser = await openBrowser();
  ({ server } = await serveRoutes(docsRoutes(publicDocs())));
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const wide: View = { width: 1280, scheme: "light" };
const urlOf = (path: string) => `http://127.0.0.1:${server.port}${path}`;

test.each(
  ["/docs", "/docs/errors", "/docs/build-a-site", "/docs/webhooks", "/"].flatMap((path) =>
    views.map((view) => ({ path, ...view })),
  ),
)("$path has no violation of WCAG 2.2 AA at $width px in $scheme", async ({ path, ...view }) => {
  const found = await browser.visit(urlOf(path), view, async (page) => ({
    closed: await axeViolations(page),
    scrolls: await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth"),
  }));
  expect(found).toEqual({ closed: [], scrolls: false });
});

test.each(views)("the unfolded reference has no violation of WCAG 2.2 AA at $width px in $scheme", async (view) => {
  const found = await browser.visit(urlOf("/docs"), view, async (page) => {
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    return axeViolations(page);
  });
  expect(found).toEqual([]);
});

test("the reference begins folded, and the browser blocks nothing", async () => {
  const blocked: string[] = [];
  const height = await browser.visit(urlOf("/docs"), wide, async (page) => {
    page.on("console", (message) => void (message.type() === "error" && blocked.push(message.text())));
    await page.reload();
    return page.evaluate<number>("document.documentElement.scrollHeight");
  });
  expect(height).toBeLessThan(6_120);
  expect(blocked).toEqual([]);
});

test("a link to an operation unfolds it", async () => {
  const visible = await browser.visit(urlOf("/docs#getArticleBySlug"), wide, (page) =>
    page.locator("#getArticleBySlug").isVisible(),
  );
  expect(visible).toBe(true);
});

test("a search shows the operations that have its words, and says how many", async () => {
  const shown = await browser.visit(urlOf("/docs"), wide, async (page) => {
    await page.getByLabel("Search").fill("slug article");
    const operations = page.locator("details.op:visible");
    return { count: await operations.count(), said: await page.locator("#found").textContent() };
  });
  expect(shown.count).toBeGreaterThan(0);
  expect(shown.said).toMatch(new RegExp(`^${shown.count} of \\d+ operations$`));
});

test("a form sends its call, and shows the answer with its code", async () => {
  const answer = await browser.visit(urlOf("/docs#listArticles"), wide, async (page) => {
    const form = page.locator("#listArticles form");
    await form.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => form.locator("output").textContent()).toContain("NOT_FOUND");
    return form.locator("output").textContent();
  });
  expect(answer).toMatch(/^GET \/v1\/publisher\/articles\n404 /);
});
