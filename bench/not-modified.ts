/** The list's 304 beside its 200, 16 connections: what a reader who polls costs when nothing was published. */
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { judge } from "./load/verdict.ts";
import { openStage } from "./stage/open-stage.ts";
import { seedPublications } from "./stage/publications.ts";

const { rounds, durationMs } = readBenchSettings();
const path = "/v1/documents?type=core/article&limit=50";

await using stage = await openStage();
await seedPublications(stage.documents, stage.tenantId, 10_000);
const url = new URL(stage.constellation.dev.gateway);
const headers = { authorization: `Bearer ${stage.apiKey}` };
const page = await fetch(new URL(path, url), { headers });
const etag = page.headers.get("etag") ?? "";
await page.body?.cancel();

const { ratio } = await compare(
  reads("304", 304, { ...headers, "if-none-match": etag }),
  reads("200", 200, headers),
  rounds,
);
judge("the list's 304, times its 200", ratio, { atLeast: 5 });

function reads(name: string, expectedStatus: number, sent: Record<string, string>): Side {
  const request = httpRequest("GET", path, sent);
  return { name, run: () => runLoad({ url, connections: 16, durationMs, next: () => request, expectedStatus }) };
}
