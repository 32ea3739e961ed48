import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findChromium } from "./find-chromium.ts";

const height = 900;

/** Width in pixels and colour scheme of a page, which is always 900 pixels high. */
export interface View {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

/** Cookies and storage in Playwright's form. */
type Kept = Exclude<BrowserContextOptions["storageState"], string | undefined>;

export interface Visitor extends View {
  /** Whether scripts run; they do by default. */
  readonly script?: boolean;
  /** Cookies and storage of an earlier visit, for example of one that signed in. */
  readonly kept?: Kept | undefined;
}

/** The views in which tests check pages with axe and screenshots are taken. */
export const views: readonly View[] = [1280, 390].flatMap((width) => [
  { width, scheme: "light" as const },
  { width, scheme: "dark" as const },
]);

/** The widths in pixels at which tests check that no page scrolls sideways. */
export const widths: readonly number[] = [320, 390, 1280, 1920];

/** Changes the width and the colour scheme of a loaded page, without loading it again. */
export async function showIn(page: Page, { width, scheme }: View): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme });
}

/** A running Chromium. Pages share no cookies and storage. */
export interface OpenBrowser extends AsyncDisposable {
  /**
   * Opens a URL in a new page, waits until the page is loaded, passes it to `look`, and closes it.
   */
  visit<T>(url: string, visitor: Visitor, look: (page: Page) => Promise<T>): Promise<T>;
}

/**
 * Starts the Chromium of `findChromium`, without a sandbox, because containers do not allow one.
 */
export async function openBrowser(): Promise<OpenBrowser> {
  const { path, env } = await findChromium();
  const browser = await chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    args: ["--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none"],
  });
  return {
    visit: (url, visitor, look) => visit(browser, url, visitor, look),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function visit<T>(
  browser: Browser,
  url: string,
  { width, scheme, script = true, kept }: Visitor,
  look: (page: Page) => Promise<T>,
): Promise<T> {
  const viewport = { width, height };
  await using context = await browser.newContext({
    viewport,
    colorScheme: scheme,
    locale: "en-GB",
    javaScriptEnabled: script,
    ...(kept && { storageState: kept }),
  });
  const page = await context.newPage();
  await page.goto(url);
  return await look(page);
}
