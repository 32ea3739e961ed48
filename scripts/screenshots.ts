/**
 * `npm run screenshots [-- PATH…]`: pictures of pages of the dev stack that runs, at 1,280 and 390 px in
 * both colour schemes, in .vidimus/screenshots. By default of every page. Pages under /docs are the
 * gateway's, others the console's, to which it signs in as `operator`.
 */
import { openBrowser, type View, views } from "@vidimus/devstack/browser/open-browser";
import { signInByLink } from "@vidimus/devstack/browser/sign-in";
import { stateDir } from "@vidimus/devstack/paths";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { readDevJson } from "@vidimus/devstack/stack/dev-json";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

const everyPage = ["/docs", "/docs/errors", "/sign-in", "/", "/sessions", "/invitation", "/nothing-here"];
const paths = process.argv.length > 2 ? process.argv.slice(2) : everyPage;
const dev = await readDevJson(stateDir);
if (!dev) throw new Error("no dev stack runs here: npm start");
const folder = join(stateDir, "screenshots");
await mkdir(folder, { recursive: true });
await using browser = await openBrowser();
const link = await makeConsoleLink(dev);
const person = link && (await signInByLink(browser, link, views[0]!));
for (const path of paths) for (const view of views) await picture(path, view);

async function picture(path: string, view: View): Promise<void> {
  const name = path.replace(/\W+/g, "-").replace(/^-|-$/g, "") || "overview";
  const file = join(folder, `${name}-${view.width}-${view.scheme}.png`);
  const isOpen = /^\/(docs|sign-in)\b/.test(path);
  const url = new URL(path, path.startsWith("/docs") ? dev!.gateway : dev!.console);
  const visitor = isOpen || !person ? view : { ...person, ...view };
  await browser.visit(url.href, visitor, (page) => page.screenshot({ path: file, fullPage: true }));
  console.log(file);
}
