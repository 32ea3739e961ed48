/**
 * `npm run screenshots [-- PATH…]`: pictures of pages of the dev stack that runs, at 1,280 and 390 px in
 * both colour schemes, in .vidimus/screenshots. By default of every page. Pages under /docs are the
 * gateway's, others the console's, to which it signs in as `operator`.
 */
import { openBrowser, type Visitor, views } from "@vidimus/devstack/browser/open-browser";
import { signInByLink } from "@vidimus/devstack/browser/sign-in";
import { stateDir } from "@vidimus/devstack/paths";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

const everyPage = ["/docs", "/docs/errors", "/sign-in", "/", "/sessions", "/invitation", "/nothing-here"];
const paths = process.argv.length > 2 ? process.argv.slice(2) : everyPage;
const folder = join(stateDir, "screenshots");
await mkdir(folder, { recursive: true });
const dev = await readDevJson(stateDir);
if (!dev) throw new Error("no dev stack runs here: npm start");
await using browser = await openBrowser();
await takePictures(dev);

async function takePictures(of: DevJson): Promise<void> {
  const link = await makeConsoleLink(of);
  const signedIn = link === undefined ? undefined : await signInByLink(browser, link, { width: 1280, scheme: "light" });
  for (const path of paths) {
    const url = new URL(path, path.startsWith("/docs") ? of.gateway : of.console);
    const isOpen = /^\/(docs|sign-in)\b/.test(path);
    for (const view of views) await takePicture(url, isOpen ? view : { ...signedIn, ...view });
  }
}

async function takePicture(url: URL, visitor: Visitor): Promise<void> {
  const name = url.pathname.replace(/\W+/g, "-").replace(/^-|-$/g, "") || "overview";
  const file = join(folder, `${name}-${visitor.width}-${visitor.scheme}.png`);
  await browser.visit(url.href, visitor, (page) => page.screenshot({ path: file, fullPage: true }));
  console.log(file);
}
