import type { Page } from "playwright-core";

interface CrawledPage {
  readonly url: string;
  /** Path of the page, with `:id` for what differs from row to row. */
  readonly kind: string;
}

const idPattern = /^(?:[0-9a-f-]{32,36}|(?:ep|snp|person|vk|replay)[_:-].{6,}|[\w-]{12,}_?)$/i;
const kindsMax = 100;

/**
 * The path of a page with its ids replaced, so that the pages of two rows of a list have the same
 * kind.
 */
export function kindOf(path: string): string {
  return path
    .split("/")
    .map((part) => (idPattern.test(decodeURIComponent(part)) && /[\d_:]/.test(part) ? ":id" : part))
    .join("/");
}

/**
 * Follows links from a page to one page of every kind of its origin, at most 100, and passes each
 * loaded page to `look`. Skips exports, which a browser saves instead of showing them.
 */
export async function crawlPages(
  page: Page,
  start: string,
  look: (page: Page, reached: CrawledPage) => Promise<void>,
): Promise<CrawledPage[]> {
  const { origin } = new URL(start);
  const seen = new Set<string>();
  const reached: CrawledPage[] = [];
  const queue = [start];
  for (let url = queue.shift(); url !== undefined && reached.length < kindsMax; url = queue.shift()) {
    const kind = kindOf(new URL(url).pathname);
    if (seen.has(kind) || kind.endsWith("/export")) continue;
    seen.add(kind);
    await page.goto(url);
    const crawled = { url, kind };
    reached.push(crawled);
    await look(page, crawled);
    const links = await page.evaluate<string[]>("Array.from(document.links, ({ href }) => href)");
    for (const link of links) if (new URL(link).origin === origin) queue.push(link);
  }
  return reached;
}
