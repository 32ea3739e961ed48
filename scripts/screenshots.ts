/**
 * `npm run screenshots [-- PATH…]`: pictures of pages of the dev stack that runs, at 1,280 and 390 px in
 * both colour schemes, in .vidimus/screenshots. By default of /docs and /docs/errors.
 */
import { openBrowser, views } from "@vidimus/devstack/browser/open-browser";
import { stateDir } from "@vidimus/devstack/paths";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const paths = process.argv.length > 2 ? process.argv.slice(2) : ["/docs", "/docs/errors"];
const { gateway } = JSON.parse(await readFile(join(stateDir, "dev.json"), "utf8")) as { gateway: string };
const folder = join(stateDir, "screenshots");
await mkdir(folder, { recursive: true });
await using browser = await openBrowser();
for (const path of paths) {
  for (const view of views) {
    const name = `${path.replace(/\W+/g, "-").replace(/^-|-$/g, "")}-${view.width}-${view.scheme}.png`;
    const file = join(folder, name);
    await browser.visit(new URL(path, gateway).href, view, (page) => page.screenshot({ path: file, fullPage: true }));
    console.log(file);
  }
}
