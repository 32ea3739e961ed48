import { openBrowser, type OpenBrowser, type View } from "@vidimus/devstack/browser/open-browser";
import { publicDocs } from "@vidimus/gateway/api-docs/api-docs";
import { docsRoutes } from "@vidimus/gateway/api-docs/docs-routes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveRoutes } from "../../services/gateway/test/support/serve-routes.ts";
import { faultsInViews } from "./support/console-pages.ts";

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

const typedId = "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77";
const wide: View = { width: 1280, scheme: "light" };
const urlOf = (path: string) => `http://127.0.0.1:${server.port}${path}`;

test.each(["/docs", "/docs/errors", "/docs/build-a-site", "/docs/webhooks", "/docs/document-types", "/"])(
  "%s breaks no WCAG 2.2 AA rule of axe and scrolls sideways at no tested width",
  async (path) => {
    expect(await browser.visit(urlOf(path), wide, faultsInViews)).toEqual([]);
  },
);

const guidesWithTables = ["document-types", "publisher-reads", "phrases", "pushing", "webhooks", "build-a-site"];

/** Looks at the tables of a guide at 390 px. */
async function narrowTables(name: string): Promise<{ isCut: boolean; isSilent: boolean }[]> {
  const narrow: View = { width: 390, scheme: "light" };
  const tables = await browser.visit(urlOf(`/docs/${name}`), narrow, (page) =>
    page.locator(".wide").evaluateAll((found) =>
      found.map((box) => ({
        isCut: box.scrollWidth > box.clientWidth,
        isSilent: Array.from(box.querySelectorAll("td")).some((cell) => !cell.dataset["label"]),
      })),
    ),
  );
  expect(tables.length).toBeGreaterThan(0);
  return tables;
}

test.each(guidesWithTables)("at 390 px no table of /docs/%s is cut at the side", async (name) => {
  expect((await narrowTables(name)).filter(({ isCut }) => isCut)).toEqual([]);
});

test.each(guidesWithTables)("at 390 px each cell of the tables of /docs/%s has a label", async (name) => {
  expect((await narrowTables(name)).filter(({ isSilent }) => isSilent)).toEqual([]);
});

test("the unfolded reference breaks no WCAG 2.2 AA rule of axe and scrolls sideways at no tested width", async () => {
  const found = await browser.visit(urlOf("/docs"), wide, async (page) => {
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    return faultsInViews(page);
  });
  expect(found).toEqual([]);
});

test("the reference begins folded, less than 6,120 px high", async () => {
  const [open, height] = await browser.visit(urlOf("/docs"), wide, async (page) => [
    await page.locator("details[open]").count(),
    await page.evaluate<number>("document.documentElement.scrollHeight"),
  ]);
  expect(open).toBe(0);
  expect(height).toBeLessThan(6_120);
});

test("the reference loads without an error in the browser's console", async () => {
  const blocked: string[] = [];
  await browser.visit("about:blank", wide, async (page) => {
    page.on("console", (message) => void (message.type() === "error" && blocked.push(message.text())));
    await page.goto(urlOf("/docs"));
  });
  expect(blocked).toEqual([]);
});

test("a link to an operation unfolds it", async () => {
  const visible = await browser.visit(urlOf("/docs#getArticleBySlug"), wide, (page) =>
    page.locator("#getArticleBySlug").isVisible(),
  );
  expect(visible).toBe(true);
});

test("a search shows only operations that have its words, and says how many", async () => {
  const shown = await browser.visit(urlOf("/docs"), wide, async (page) => {
    await page.getByLabel("Search").fill("slug article");
    const operations = page.locator("details.op:visible");
    return { texts: await operations.allTextContents(), said: await page.locator("#found").textContent() };
  });
  expect(shown.texts).not.toEqual([]);
  expect(shown.texts.filter((text) => !/slug/i.test(text) || !/article/i.test(text))).toEqual([]);
  expect(shown.said).toMatch(new RegExp(`^${shown.texts.length} of \\d+ operations$`));
});

test("the form of an operation sends its call, and shows the answer with its HTTP status", async () => {
  const answer = await browser.visit(urlOf("/docs#listArticles"), wide, async (page) => {
    const form = page.locator("#listArticles form");
    await form.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => form.locator("output").textContent()).toContain("NOT_FOUND");
    return form.locator("output").textContent();
  });
  expect(answer).toMatch(/^GET \/v1\/publisher\/articles\n404 /);
});

test("each call of a form has a new id, unless the person has typed an id", async () => {
  const ids = await browser.visit(urlOf("/docs#createDocument"), wide, async (page) => {
    const form = page.locator("#createDocument form");
    const sentId = async () => {
      const sent = page.waitForRequest(urlOf("/v1/documents"));
      await form.getByRole("button", { name: "Send" }).click();
      return ((await sent).postDataJSON() as { id: string }).id;
    };
    const example = JSON.parse((await form.locator("option").getAttribute("data-example"))!) as { id: string };
    const examples = [example.id, await sentId(), await sentId()];
    await form.locator("select").dispatchEvent("change");
    examples.push(await sentId());
    await form.locator("textarea").fill(JSON.stringify({ id: typedId }));
    return { examples, typed: [await sentId(), await sentId()] };
  });
  expect(new Set(ids.examples).size).toBe(4);
  expect(ids.typed).toEqual([typedId, typedId]);
});
