/**
 * `npm run screenshots [-- [--state FOLDER] [PATH…]]`: makes pictures of pages of the running dev
 * stack, at 1,280 and 390 px in both colour schemes, in `screenshots` in its folder. By default of
 * every page: those of the API reference, those of the sign-in, and one of each kind that links
 * lead to from the start of the console, where it is signed in as `operator`.
 */
import { crawlPages, kindOf } from "@vidimus/devstack/browser/crawl-pages";
import { openBrowser, type Visitor, views } from "@vidimus/devstack/browser/open-browser";
import { signInByLink } from "@vidimus/devstack/browser/sign-in";
import { stateDir } from "@vidimus/devstack/paths";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { readDevJson } from "@vidimus/devstack/stack/dev-json";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({ options: { state: { type: "string" } }, allowPositionals: true });
const state = values.state === undefined ? stateDir : resolve(values.state);
const folder = join(state, "screenshots");
await mkdir(folder, { recursive: true });
const dev = await readDevJson(state);
const link = dev && (await makeConsoleLink(dev));
if (!dev || !link) throw new Error(`no dev stack with a console runs in ${state}: npm start`);
await using browser = await openBrowser();
const operator = await signInByLink(browser, link, { width: 1280, scheme: "light" });

/** Pages that need no sign-in. */
const openPaths = ["/docs", "/docs/errors", "/sign-in"];
const paths = positionals.length > 0 ? positionals : [...openPaths, ...(await consolePaths(link)), "/nothing-here"];
for (const path of paths) {
  const url = new URL(path, path.startsWith("/docs") ? dev.gateway : dev.console);
  const isOpen = openPaths.some((open) => path.startsWith(open));
  for (const view of views) await takePicture(url, isOpen ? view : { ...operator, ...view });
}

/** Paths of one page of each kind that links lead to, and of a page that no link leads to. */
async function consolePaths(start: string): Promise<string[]> {
  const reached = await browser.visit("about:blank", operator, (page) =>
    crawlPages(page, new URL("/", start).href, async () => {}),
  );
  return [...reached.map(({ url }) => new URL(url).pathname), "/invitation"];
}

async function takePicture(url: URL, visitor: Visitor): Promise<void> {
  const name = kindOf(url.pathname).replace(/\W+/g, "-").replace(/^-|-$/g, "") || "start";
  const file = join(folder, `${name}-${visitor.width}-${visitor.scheme}.png`);
  await browser.visit(url.href, visitor, (page) => page.screenshot({ path: file, fullPage: true }));
  console.log(file);
}
