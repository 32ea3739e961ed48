/**
 * Pages of 50 published documents, 16 connections: one page for all, plain and compressed, beside a
 * bare server that joins stored bytes; a page for each reader beside one that maps rows to objects;
 * pages a million publications deep beside first pages.
 */
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";
import { frontPages } from "./stage/front-pages.ts";
import { openStage } from "./stage/open-stage.ts";
import { seedPublications } from "./stage/publications.ts";

const settings = readBenchSettings();
const { rounds, durationMs } = settings;
const limit = 50;
/**
 * Pages read in turn when depth is measured: a single page would be cached, or shared between
 * readers.
 */
const pagesInTurn = 100;

await using stage = await openStage();
console.log(`seeding ${settings.publications} publications`);
const publications = await seedPublications(stage.documents, stage.tenantId, settings.publications);
const baseline = await stage.startBaseline("bare-reads");
const path = `/v1/documents?type=core/article&limit=${limit}`;
const bytesPath = `/bytes?limit=${limit}`;
const headers = { authorization: `Bearer ${stage.apiKey}` };
await describePage();

const { gateway } = stage.constellation.dev;
const bytes = await compare(pages("vidimus", gateway, [path]), pages("bytes", baseline, [bytesPath]), rounds);
const compressed = await compare(
  pages("compressed", gateway, [path], { "accept-encoding": "br, gzip" }),
  pages("bytes", baseline, [bytesPath], { "accept-encoding": "br, gzip" }),
  rounds,
);
const top = pages("vidimus", gateway, frontPages(path, pagesInTurn));
const objects = await compare(top, pages("objects", baseline, [`/objects?limit=${limit}`]), rounds);
const deep = await compare(pages("deep", gateway, deepPaths()), { ...top, name: "top" }, rounds);

checkBaseline("that joins stored bytes", bytes.baseline.perSecond, 1_600);
checkBar("one page for all, times the server that joins stored bytes", bytes.ratio, { atLeast: 1 });
checkBar("the same for readers who take br and gzip", compressed.ratio, { atLeast: 1 });
checkBaseline("that maps rows to objects", objects.baseline.perSecond, 900);
checkBar("a page for each, times the server that maps rows to objects", objects.ratio, { atLeast: 1 });
checkBar(`cost of a page ${publications.count} deep, times the first page's`, 1 / deep.ratio, { atMost: 1.2 });

function pages(name: string, base: string, paths: readonly string[], accepts: Record<string, string> = {}): Side {
  const requests = paths.map((each) => httpRequest("GET", each, { ...headers, ...accepts }));
  let sent = 0;
  const next = () => requests[sent++ % requests.length] ?? Buffer.alloc(0);
  return { name, run: () => runLoad({ url: new URL(base), connections: 16, durationMs, next, expectedStatus: 200 }) };
}

function deepPaths(): string[] {
  return Array.from({ length: pagesInTurn }, (_, index) => {
    const behind = publications.count - limit * (index + 2);
    return `${path}&cursor=${publications.cursorAt(Math.max(0, behind))}`;
  });
}

async function describePage(): Promise<void> {
  const [page = "", deepest = ""] = await Promise.all([path, deepPaths()[0] ?? path].map(read));
  console.log(`a page has ${Math.round(page.length / 1_000)} KB`);
  const { items, hasMore }: { items: unknown[]; hasMore: boolean } = JSON.parse(deepest).data;
  if (items.length !== limit || !hasMore) throw new Error(`the deep page has ${items.length} items`);
}

async function read(each: string): Promise<string> {
  const answer = await fetch(stage.constellation.dev.gateway + each, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return text;
}
