/**
 * What a page of the console costs besides its calls to services: the p95 of each page and of the
 * same calls alone, in the same rounds, by one reader. Then the memory of the console compared with
 * that of the smallest service, and its CPU while no page is asked for.
 */
import type { CallOptions } from "@connectrpc/connect";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { PhraseFormat, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { linkIssuer } from "@vidimus/console/domain/identity";
import { setTimeout as pause } from "node:timers/promises";
import { readBenchSettings } from "./load/settings.ts";
import { spreadColumns, spreadOf } from "./load/spread.ts";
import { checkBar } from "./load/verdict.ts";
import { deliverForConsole } from "./stage/console-deliveries.ts";
import { withoutLimits } from "./stage/open-stage.ts";
import { cpuMsOf } from "./measure/process-cpu.ts";
import { residentMiB } from "./measure/resident-memory.ts";
import { signedIn } from "./stage/signed-in.ts";

const phrasesMax = 20_000;
const idleMs = 60_000;
const services = ["gateway", "documents", "phrases", "signing", "delivery"] as const;

const { rounds, durationMs } = readBenchSettings();
await using stack = await openProcessConstellation(withoutLimits, {}, { console: true });
const { dev } = stack;
const [tenant] = dev.tenants;
if (!tenant) throw new Error("the dev stack has no tenant");
const tenantId = tenant.id;
using members = openRpcClient(MemberService, { target: dev.grpc.access });
using access = openRpcClient(AccessService, { target: dev.grpc.access });
using endpoints = openRpcClient(EndpointService, { target: dev.grpc.delivery });
using deliveries = openRpcClient(DeliveryLogService, { target: dev.grpc.delivery });
using phrases = openRpcClient(PhraseService, { target: dev.grpc.phrases });
const asOwner: CallOptions = { headers: { "vidimus-role": "owner", "vidimus-actor": "bench" } };
const identity = { issuer: linkIssuer, subject: "operator" };
const cookie = await signedIn(dev);
await fillDictionary();
await using shown = await deliverForConsole(dev, tenantId);
const { endpointId, deliveryId, replayId } = shown;

/** A page, and the calls to services that the page makes once it has identified its reader. */
interface MeasuredPage {
  readonly path: string;
  calls(): readonly Promise<unknown>[];
}

const pages: readonly MeasuredPage[] = [
  { path: "/newsrooms", calls: () => [] },
  { path: `/t/${tenantId}/keys`, calls: () => [access.listApiKeys({ tenantId, limit: 50 }, asOwner), listNames()] },
  { path: `/t/${tenantId}/phrases`, calls: () => [listPhrases("")] },
  { path: `/t/${tenantId}/phrases?contains=999`, calls: () => [listPhrases("999")] },
  {
    path: `/t/${tenantId}`,
    calls: () => [
      listEndpoints(),
      deliveries.countDeliveries({ tenantId }, asOwner),
      access.listApiKeys({ tenantId, limit: 50, liveOnly: true }, asOwner),
      listNames(),
    ],
  },
  { path: `/t/${tenantId}/endpoints`, calls: () => [listEndpoints()] },
  {
    path: `/t/${tenantId}/endpoints/${endpointId}`,
    calls: () => [endpoints.getEndpoint({ tenantId, endpointId }, asOwner), listNames()],
  },
  {
    path: `/t/${tenantId}/deliveries`,
    calls: () => [deliveries.listDeliveries({ tenantId, limit: 50 }, asOwner), listEndpointNames()],
  },
  {
    path: `/t/${tenantId}/deliveries/${deliveryId}`,
    calls: () => [
      deliveries.getDelivery({ tenantId, deliveryId }, asOwner),
      deliveries.getDelivery({ tenantId, deliveryId, includeRequest: true }, asOwner),
      listEndpointNames(),
    ],
  },
  {
    path: `/t/${tenantId}/replays?endpoint=${endpointId}`,
    calls: () => [deliveries.listReplays({ tenantId, endpointId, limit: 50 }, asOwner), listEndpointNames()],
  },
  {
    path: `/t/${tenantId}/replays/${replayId}`,
    calls: () => [deliveries.getReplay({ tenantId, replayId }, asOwner), listEndpointNames()],
  },
  {
    path: `/t/${tenantId}/replays/count?endpoint=${endpointId}&options=all`,
    calls: () => [deliveries.countReplay({ tenantId, endpointId, all: true }, asOwner), listEndpointNames()],
  },
];

async function listEndpoints(): Promise<void> {
  await endpoints.listEndpoints({ tenantId }, asOwner);
}

/** Pages about deliveries show endpoints by name. */
async function listEndpointNames(): Promise<void> {
  await endpoints.listEndpoints({ tenantId, namesOnly: true }, asOwner);
}

/** Pages show members by name. */
async function listNames(): Promise<void> {
  await members.listMembers({ tenantId, limit: 5_000, namesOnly: true }, asOwner);
}

async function listPhrases(contains: string): Promise<void> {
  const request = { tenantId, contains, format: PhraseFormat.JSON, limit: 50 };
  for await (const _ of phrases.listPhrases(request, asOwner));
}

async function fillDictionary(): Promise<void> {
  const rows = Array.from({ length: phrasesMax }, (_, n) => `sv,ord ${n},,,misstag ${n}|fel ${n},en beskrivning`);
  const header = "language,phrase,caseSensitive,forbidden,commonMistakes,description";
  const content = Buffer.from([header, ...rows].join("\n"));
  await phrases.importPhrases({ tenantId, format: PhraseFormat.CSV, content }, { ...asOwner, timeoutMs: 60_000 });
}

async function readPage({ path }: MeasuredPage): Promise<void> {
  const answer = await fetch(new URL(path, dev.console), { headers: { cookie }, redirect: "error" });
  const page = await answer.text();
  if (answer.status !== 200 || page.includes("does not answer")) throw new Error(`${path}: ${answer.status} ${page}`);
}

async function callBare({ calls }: MeasuredPage): Promise<void> {
  await members.listMemberships({ identity }, asOwner);
  await Promise.all(calls());
}

/** The p95 in ms of work that is repeated for half of the duration. */
async function p95Of(work: () => Promise<void>): Promise<number> {
  const until = performance.now() + durationMs / 2;
  const latencies: number[] = [];
  while (performance.now() < until) {
    const started = performance.now();
    await work();
    latencies.push(performance.now() - started);
  }
  return latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.95)] ?? Number.NaN;
}

for (const page of pages) {
  const [ofPage, ofCalls]: [number[], number[]] = [[], []];
  // The first round is the warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    ofPage.push(await p95Of(() => readPage(page)));
    ofCalls.push(await p95Of(() => callBare(page)));
  }
  const ratios = ofPage.map((ms, index) => ms / (ofCalls[index] ?? Number.NaN)).slice(1);
  const ratio = spreadOf(ratios);
  const columns = { page: spreadOf(ofPage.slice(1)), calls: spreadOf(ofCalls.slice(1)) };
  console.table({
    [page.path]: { ...spreadColumns("page p95 ms", columns.page), ...spreadColumns("calls p95 ms", columns.calls) },
  });
  checkBar(`${page.path}: p95, times that of its calls made bare`, ratio.median, { atMost: 2 });
}

const { pids } = await stack.current();
const pidOf = (name: string) => pids[name] ?? 0;
const ownPid = pidOf("console");
const resident = await Promise.all(services.map((name) => residentMiB(pidOf(name))));
const smallest = Math.min(...resident);
const own = await residentMiB(ownPid);
console.table({
  "resident MiB": { console: own, ...Object.fromEntries(services.map((name, at) => [name, resident[at]])) },
});
checkBar(`memory, ${Math.round(own)} MiB, times that of the smallest service`, own / smallest, { atMost: 1.2 });

const before = await cpuMsOf([ownPid]);
await pause(idleMs);
checkBar("CPU seconds in a minute without readers", ((await cpuMsOf([ownPid])) - before) / 1_000, { atMost: 0.3 });
