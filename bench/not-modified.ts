/**
 * The list's 304 beside its 200, 16 connections: what readers who poll cost when nothing was
 * published. First each with a page of its own, as sites with their own filters have; then all with
 * the front page, whose 200 they share.
 */
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar } from "./load/verdict.ts";
import { frontPages } from "./stage/front-pages.ts";
import { openStage } from "./stage/open-stage.ts";
import { seedPublications } from "./stage/publications.ts";

const { rounds, durationMs } = readBenchSettings();
const path = "/v1/documents?type=core/article&limit=50";

await using stage = await openStage();
await seedPublications(stage.documents, stage.tenantId, 10_000);
const url = new URL(stage.constellation.dev.gateway);
const headers = { authorization: `Bearer ${stage.apiKey}` };
const own = await Promise.all(frontPages(path, 100).map(hold));
const front = await hold(path);

const { ratio } = await compare(reads("304", own), reads("200", own.map(unheld)), rounds);
const shared = await compare(reads("front 304", [front]), reads("front 200", [unheld(front)]), rounds);
checkBar("the list's 304, times its 200, each reader with a page of its own", ratio, { atLeast: 5 });
console.log(`       the same, all readers with one page: ${shared.ratio.toFixed(2)} (no bar)`);

/**
 * A page of 50, and the tag of the copy that a reader holds; without one the reader gets it whole.
 */
interface Held {
  readonly path: string;
  readonly etag?: string;
}

async function hold(each: string): Promise<Held> {
  const page = await fetch(new URL(each, url), { headers });
  await page.arrayBuffer();
  return { path: each, etag: page.headers.get("etag") ?? "" };
}

function unheld({ path: each }: Held): Held {
  return { path: each };
}

function reads(name: string, pages: readonly Held[]): Side {
  const expectedStatus = pages[0]?.etag === undefined ? 200 : 304;
  const requests = pages.map(({ path: each, etag }) =>
    httpRequest("GET", each, { ...headers, ...(etag === undefined ? {} : { "if-none-match": etag }) }),
  );
  let sent = 0;
  const next = () => requests[sent++ % requests.length] ?? Buffer.alloc(0);
  return { name, run: () => runLoad({ url, connections: 16, durationMs, next, expectedStatus }) };
}
