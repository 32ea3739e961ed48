/**
 * The list's 304 compared with its 200, 16 connections: the cost of readers who poll when nothing
 * was published. First each reader has a page of its own, as sites with their own filters do,
 * compared with pages that must be read and with pages that the gateway keeps; then all read the
 * front page, compared with a bare server that knows its tag without asking.
 */
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";
import { frontPages, unreadPage } from "./stage/front-pages.ts";
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
const bare = new URL(await stage.startBaseline("bare-reads"));
const fromMemory = { path: "/held", etag: 'W/"held"' };

const polls = reads("304", url, inTurn(own), 304);
const { ratio } = await compare(
  polls,
  reads("read", url, () => request({ path: unreadPage(path) }), 200),
  rounds,
);
const kept = await compare(
  polls,
  reads("kept", url, inTurn(own.map(({ path: each }) => ({ path: each }))), 200),
  rounds,
);
const shared = await compare(
  reads("front 304", url, inTurn([front]), 304),
  reads("memory", bare, inTurn([fromMemory]), 304),
  rounds,
);
checkBar("the list's 304, times its 200 that must be read, each reader with its own page", ratio, { atLeast: 5 });
console.log(`       times its 200 that the gateway keeps: ${kept.ratio.toFixed(2)} (no bar)`);
checkBaseline("that answers 304 from memory", shared.baseline.perSecond, 45_000);
checkBar("the front page's 304, times the server that answers from memory", shared.ratio, { atLeast: 0.2 });

/** A page of 50, and the tag of the reader's copy; without a tag the reader gets the whole page. */
interface Held {
  readonly path: string;
  readonly etag?: string;
}

async function hold(each: string): Promise<Held> {
  const page = await fetch(new URL(each, url), { headers });
  await page.arrayBuffer();
  return { path: each, etag: page.headers.get("etag") ?? "" };
}

function request({ path: each, etag }: Held): Buffer {
  return httpRequest("GET", each, { ...headers, ...(etag === undefined ? {} : { "if-none-match": etag }) });
}

function inTurn(pages: readonly Held[]): () => Buffer {
  const requests = pages.map(request);
  let sent = 0;
  return () => requests[sent++ % requests.length] ?? Buffer.alloc(0);
}

function reads(name: string, base: URL, next: () => Buffer, expectedStatus: 200 | 304): Side {
  return { name, run: () => runLoad({ url: base, connections: 16, durationMs, next, expectedStatus }) };
}
