/**
 * Documents per second through the full path (gateway, documents, mongod; majority and journaled)
 * compared with a bare single-process Fastify + driver server that batches, too, with 1, 16 and 64
 * connections, in turn on one mongod.
 */
import { randomUUID } from "node:crypto";
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";
import { openStage } from "./stage/open-stage.ts";

const { rounds, durationMs } = readBenchSettings();

/** About 2 KB, the size of a wire item. */
const content = {
  blocks: Array.from({ length: 6 }, (_, index) => ({
    type: "core/text",
    data: { html: `Paragraph ${index}. ${"The boat did not sail today either. ".repeat(7)}` },
  })),
};

function createRequest(apiKey: string): Buffer {
  const meta = { source: "bench", origin: "feed", priority: 3, language: "en" };
  const body = JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "Ferry cancelled", meta, content });
  return httpRequest(
    "POST",
    "/v1/documents",
    { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body,
  );
}

/**
 * For each number of connections: creates per second of the bare server on a quiet machine
 * (`stated`), and the share of the bare server's measured rate that Vidimus must reach (`atLeast`).
 */
const loads = [
  { connections: 1, stated: 600, atLeast: 0.5 },
  { connections: 16, stated: 3_300, atLeast: 0.45 },
  { connections: 64, stated: 6_700, atLeast: 0.6 },
] as const;

function side(name: string, url: string, apiKey: string, connections: number): Side {
  const next = () => createRequest(apiKey);
  return { name, run: () => runLoad({ url: new URL(url), connections, durationMs, next, expectedStatus: 201 }) };
}

await using stage = await openStage();
const { apiKey } = stage;
const baseline = await stage.startBaseline("bare-intake");
const { gateway } = stage.constellation.dev;
for (const { connections, stated, atLeast } of loads) {
  const ours = side("vidimus", gateway, apiKey, connections);
  const { ratio, baseline: bare } = await compare(ours, side("bare", baseline, apiKey, connections), rounds);
  checkBaseline(`that batches too, ${connections} connections`, bare.perSecond, stated);
  checkBar(`intake with ${connections} connections, times the bare server`, ratio, { atLeast });
}
