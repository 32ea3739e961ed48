/**
 * The cost of traces: creates and publications per second of a stack that records a tenth of the
 * traces, as the manifests do, compared with one that records none, and the CPU of each. The
 * collector only counts what it gets. `OTEL_TRACES_SAMPLER_ARG=1` records all.
 */
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { randomUUID } from "node:crypto";
import { runCallers } from "./load/caller-load.ts";
import { compare, type Side, type Turn } from "./load/compare.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar } from "./load/verdict.ts";
import { asEditor, createDrafts, untilDelivered } from "./stage/drafts.ts";
import { openCollector } from "./stage/collector.ts";
import { openStage, type Stage, withoutLimits } from "./stage/open-stage.ts";
import { cpuMsOf } from "./measure/process-cpu.ts";

const { rounds, durationMs } = readBenchSettings();
const callers = 64;
const draftsPerSecond = 3_000;
const atLeast = 0.95;

const content = { blocks: [{ type: "core/text", data: { html: "The boat did not sail today either. ".repeat(50) } }] };

/** A stack, with the CPU and the number of operations of its measured turns so far. */
interface Measured {
  readonly name: string;
  readonly stage: Stage;
  readonly drafts: string[];
  cpuMs: number;
  operations: number;
}

await using collector = await openCollector();
const share = process.env["OTEL_TRACES_SAMPLER_ARG"] ?? "0.1";
const sampler = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: share };
const traced = { ...withoutLimits, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...sampler };
await using onStage = await openStage(traced);
await using offStage = await openStage();

for (const [what, work] of [
  ["creates", { prepare: async () => {}, run: create }],
  ["publications", { prepare: fillDrafts, run: publish }],
] as const) {
  const on = measured("on", onStage);
  const off = measured("off", offStage);
  const { ratio } = await compare(side(on, work), side(off, work), rounds);
  const [onMs, offMs] = [on, off].map(({ cpuMs, operations }) => cpuMs / operations);
  console.log(`       CPU ms for one of the ${what}: ${onMs?.toFixed(3)} on, ${offMs?.toFixed(3)} off`);
  checkBar(`${what} a second with ${share} of the traces recorded, times those with none`, ratio, { atLeast });
}
console.log(`       the collector got ${collector.posts()} posts with ${Math.round(collector.bytes() / 1e6)} MB`);

function measured(name: string, of: Stage): Measured {
  return { name, stage: of, drafts: [], cpuMs: 0, operations: 0 };
}

/** The work of a turn, and its preparation before the clocks start. */
interface Work {
  prepare(measured: Measured): Promise<void>;
  run(measured: Measured): Promise<Turn & { requests: number }>;
}

/** Counts the CPU of all turns except the first, in which the programs warm up. */
function side(of: Measured, work: Work): Side {
  let turns = 0;
  return {
    name: of.name,
    run: async () => {
      await work.prepare(of);
      const before = await servicesCpu(of.stage);
      const turn = await work.run(of);
      turns += 1;
      if (turns === 1) return turn;
      of.cpuMs += (await servicesCpu(of.stage)) - before;
      of.operations += turn.requests;
      return turn;
    },
  };
}

async function servicesCpu({ constellation }: Stage): Promise<number> {
  const { pids } = await constellation.current();
  return cpuMsOf(["gateway", "documents", "signing", "delivery"].flatMap((name) => pids[name] ?? []));
}

function create({ stage: { constellation, apiKey } }: Measured) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const next = () => {
    const body = { id: randomUUID(), type: "core/newswire", title: "Ferry cancelled", content };
    return httpRequest("POST", "/v1/documents", headers, JSON.stringify(body));
  };
  const url = new URL(constellation.dev.gateway);
  return runLoad({ url, connections: callers, durationMs, next, expectedStatus: 201 });
}

async function fillDrafts({ stage: { tenantId, constellation }, drafts }: Measured): Promise<void> {
  using documents = openRpcClient(DocumentService, { target: constellation.dev.grpc.documents });
  const missing = (durationMs / 1_000) * draftsPerSecond - drafts.length;
  drafts.push(...(await createDrafts(documents, tenantId, Math.max(0, missing), 2_000)));
}

async function publish({ stage, drafts }: Measured) {
  const { tenantId, constellation, documents: db } = stage;
  using documents = openRpcClient(DocumentService, { target: constellation.dev.grpc.documents });
  const call = () => {
    const documentId = drafts.pop();
    if (documentId === undefined) return undefined;
    const transition = { documentId, name: "publish", expectedVersion: 1n };
    return documents.transitionDocument({ tenantId, transition }, asEditor);
  };
  const turn = await runCallers({ callers, durationMs, call });
  await untilDelivered(db);
  return turn;
}
