import type { Page } from "playwright-core";

interface CrawledPage {
  readonly url: string;
  /** See `kindOf`. */
  readonly kind: string;
  readonly status: number;
}

const idPattern = /^(?:[0-9a-f-]{32,36}|(?:ep|snp|person|vk|replay)[_:-].{6,}|[\w-]{12,}_?)$/i;
/** Words have none of these; an id of random letters and digits nearly always has one. */
const randomPattern = /[\d_:]|[a-z][A-Z]/;
const kindsMax = 100;

/**
 * The path of a page with `:id` for its ids, and the names of its query, so that the pages of two
 * rows of a list have the same kind, and a narrowed list has another kind than the whole list.
 */
export function kindOf({ pathname, searchParams }: URL): string {
  const path = pathname
    .split("/")
    .map((part) => (idPattern.test(decodeURIComponent(part)) && randomPattern.test(part) ? ":id" : part))
    .join("/");
  const names = [...new Set(searchParams.keys())].toSorted();
  return names.length === 0 ? path : `${path}?${names.join("&")}`;
}

/**
 * Follows links from `starts` to one page of every kind of the first start's origin, at most 100
 * pages, and passes each loaded page to `look`. Skips files, which a browser saves.
 */
export async function crawlPages(
  page: Page,
  starts: readonly [string, ...string[]],
  look: (page: Page, reached: CrawledPage) => Promise<void>,
): Promise<CrawledPage[]> {
  const { origin } = new URL(starts[0]);
  const seen = new Set<string>();
  const reached: CrawledPage[] = [];
  const queue: string[] = [...starts];
  for (let url = queue.shift(); url !== undefined && reached.length < kindsMax; url = queue.shift()) {
    const kind = kindOf(new URL(url));
    if (seen.has(kind)) continue;
    seen.add(kind);
    const status = await open(page, url);
    if (status === undefined) continue;
    const crawled = { url, kind, status };
    reached.push(crawled);
    await look(page, crawled);
    const links = await page.evaluate<string[]>("Array.from(document.links, ({ href }) => href)");
    for (const link of links) if (new URL(link).origin === origin) queue.push(link);
  }
  return reached;
}

/** Opens a page and returns its status; undefined for a file. */
async function open(page: Page, url: string): Promise<number | undefined> {
  try {
    return (await page.goto(url))?.status() ?? 0;
  } catch (error) {
    if (error instanceof Error && error.message.includes("Download is starting")) return undefined;
    throw error;
  }
}
