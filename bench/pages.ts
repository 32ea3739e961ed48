/**
 * Pages of 50 published documents, 16 connections: one page for all, plain and compressed, compared
 * with a bare server that joins stored bytes; a page for each reader, and pages that nobody has
 * read before, compared with one that maps rows to objects; such pages behind a million
 * publications compared with first pages.
 */
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";
import { frontPages, unreadPage } from "./stage/front-pages.ts";
import { openStage } from "./stage/open-stage.ts";
import { seedPublications } from "./stage/publications.ts";

const settings = readBenchSettings();
const { rounds, durationMs } = settings;
const limit = 50;
/** Number of different pages that readers take in turn, so that no two readers share a call. */
const pagesInTurn = 100;

await using stage = await openStage();
console.log(`seeding ${settings.publications} publications`);
const publications = await seedPublications(stage.documents, stage.tenantId, settings.publications);
const baseline = await stage.startBaseline("bare-reads");
const path = `/v1/documents?type=core/article&limit=${limit}`;
const bytesPath = `/bytes?limit=${limit}`;
const headers = { authorization: `Bearer ${stage.apiKey}` };
const takesBrotli = { "accept-encoding": "br, gzip" };
await describePage();

const { gateway } = stage.constellation.dev;
const onePage = inTurn([path]);
const bytes = await compare(pages("vidimus", gateway, onePage), pages("bytes", baseline, inTurn([bytesPath])), rounds);
const compressed = await compare(
  pages("compressed", gateway, inTurn([path], takesBrotli)),
  pages("bytes", baseline, inTurn([bytesPath], takesBrotli)),
  rounds,
);
const rows = pages("objects", baseline, inTurn([`/objects?limit=${limit}`]));
const own = await compare(pages("vidimus", gateway, inTurn(frontPages(path, pagesInTurn))), rows, rounds);
const top = pages("top", gateway, () => request(unreadPage(path)));
const unread = await compare(top, rows, rounds);
const deep = await compare(
  pages("deep", gateway, () => request(deepPath())),
  top,
  rounds,
);

checkBaseline("that joins stored bytes", bytes.baseline.perSecond, 1_600);
checkBar("one page for all, times the server that joins stored bytes", bytes.ratio, { atLeast: 1 });
checkBar("the same for readers who take br and gzip", compressed.ratio, { atLeast: 1 });
checkBaseline("that maps rows to objects", own.baseline.perSecond, 900);
checkBar("a page for each, times the server that maps rows to objects", own.ratio, { atLeast: 1 });
console.log(`       the same of pages that no one has read before: ${unread.ratio.toFixed(2)} (no bar)`);
checkBar(`cost of a page ${publications.count} deep, times the first page's`, 1 / deep.ratio, { atMost: 1.2 });

function pages(name: string, base: string, next: () => Buffer): Side {
  return { name, run: () => runLoad({ url: new URL(base), connections: 16, durationMs, next, expectedStatus: 200 }) };
}

function request(each: string, accepts: Record<string, string> = {}): Buffer {
  return httpRequest("GET", each, { ...headers, ...accepts });
}

function inTurn(paths: readonly string[], accepts: Record<string, string> = {}): () => Buffer {
  const requests = paths.map((each) => request(each, accepts));
  let sent = 0;
  return () => requests[sent++ % requests.length] ?? Buffer.alloc(0);
}

/**
 * A page that begins anywhere in the last hundredth of the publications, so hardly anybody has read
 * it before. Another query, such as `unreadPage`'s, would make the gateway ignore the cursor.
 */
function deepPath(): string {
  const { count, cursorAt } = publications;
  return `${path}&cursor=${cursorAt(Math.max(0, count - limit * 2 - Math.floor((Math.random() * count) / 100)))}`;
}

async function describePage(): Promise<void> {
  const [page = "", deepest = ""] = await Promise.all([path, deepPath()].map(read));
  console.log(`a page has ${Math.round(page.length / 1_000)} KB`);
  const { items, hasMore }: { items: unknown[]; hasMore: boolean } = JSON.parse(deepest).data;
  if (items.length !== limit || !hasMore) throw new Error(`the deep page has ${items.length} items`);
  if (page === deepest) throw new Error("the deep page is the first one: its cursor was ignored");
}

async function read(each: string): Promise<string> {
  const answer = await fetch(stage.constellation.dev.gateway + each, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return text;
}
