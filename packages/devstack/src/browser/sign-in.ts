import type { OpenBrowser, Visitor } from "./open-browser.ts";

/** Uses up a sign-in link of the console. Returns the view with the session's cookies. */
export async function signInByLink(browser: OpenBrowser, link: string, view: Visitor): Promise<Visitor> {
  const kept = await browser.visit(link, view, async (page) => {
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "Sessions" }).waitFor();
    return page.context().storageState();
  });
  return { ...view, kept };
}
