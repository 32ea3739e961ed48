/**
 * Documents per second through the full path (gateway, documents, mongod; majority and journaled)
 * beside a bare single-process Fastify + driver server that batches too, 64 connections, in turn on
 * one mongod.
 */
import { randomUUID } from "node:crypto";
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";
import { openStage } from "./stage/open-stage.ts";

const { rounds, durationMs } = readBenchSettings();

/** About 2 KB, as a wire item is. */
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

function side(name: string, url: string, apiKey: string): Side {
  const next = () => createRequest(apiKey);
  return { name, run: () => runLoad({ url: new URL(url), connections: 64, durationMs, next, expectedStatus: 201 }) };
}

await using stage = await openStage();
const { apiKey } = stage;
const baseline = await stage.startBaseline("bare-intake");
const ours = side("vidimus", stage.constellation.dev.gateway, apiKey);
const { ratio, baseline: bare } = await compare(ours, side("bare", baseline, apiKey), rounds);
checkBaseline("that batches too", bare.perSecond, 8_800);
checkBar("intake, times the bare server", ratio, { atLeast: 0.6 });
