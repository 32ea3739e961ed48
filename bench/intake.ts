/**
 * Documents per second through the full path (gateway, documents, mongod; majority and journaled) beside a bare
 * single-process Fastify + driver server that batches too, 64 connections, in turn on one mongod.
 */
import { startChild } from "@vidimus/devstack/child";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { compare, type Side } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";

const rounds = 5;
const durationMs = 5_000;

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

await using stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" });
const port = await pickFreePort();
const bare = await startChild({
  command: process.execPath,
  args: [join(import.meta.dirname, "baselines/bare-intake.ts")],
  logFile: join(stack.stateDir, "logs/bare-intake.log"),
  env: { ...process.env, MONGODB_URL: stack.dev.mongodb, MONGODB_DATABASE: "bare", HTTP_PORT: String(port) },
});
try {
  const apiKey = stack.dev.tenants[0]?.apiKey ?? "";
  await compare(side("vidimus", stack.dev.gateway, apiKey), side("bare", `http://127.0.0.1:${port}`, apiKey), rounds);
} finally {
  await bare.stop(5_000);
}
