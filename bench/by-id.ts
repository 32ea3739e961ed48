/**
 * Reads of single published documents by id, 16 connections: the full path compared with a bare
 * server with one `findOne`.
 */
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";
import { openStage } from "./stage/open-stage.ts";
import { seedPublications } from "./stage/publications.ts";

const { rounds, durationMs } = readBenchSettings();

await using stage = await openStage();
const publications = await seedPublications(stage.documents, stage.tenantId, 10_000);
const baseline = await stage.startBaseline("bare-reads");
const headers = { authorization: `Bearer ${stage.apiKey}` };

const ours = reads("vidimus", stage.constellation.dev.gateway, "/v1/publisher/documents");
const { ratio, baseline: bare } = await compare(ours, reads("bare", baseline, "/documents"), rounds);
checkBaseline("with one findOne", bare.perSecond, 3_600);
checkBar("reads by id, times the bare server", ratio, { atLeast: 0.7 });

function reads(name: string, base: string, path: string): Side {
  const next = () => {
    const id = publications.idAt(Math.floor(Math.random() * publications.count));
    return httpRequest("GET", `${path}/${id}`, headers);
  };
  return { name, run: () => runLoad({ url: new URL(base), connections: 16, durationMs, next, expectedStatus: 200 }) };
}
