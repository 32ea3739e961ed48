import type { OpenBrowser, Visitor } from "./open-browser.ts";

/**
 * Signs in to the console: opens a sign-in link and presses the button of its page. Returns the
 * view with the session's cookies.
 */
export async function signInByLink(browser: OpenBrowser, link: string, view: Visitor): Promise<Visitor> {
  const kept = await browser.visit(link, view, async (page) => {
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "Sessions" }).waitFor();
    return page.context().storageState();
  });
  return { ...view, kept };
}
