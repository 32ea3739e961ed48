/**
 * What a page of the console costs besides its calls to services: the p95 of each page and of the
 * same calls alone, in the same rounds, by one reader. Then the memory of the console compared with
 * that of the smallest service, and its CPU while no page is asked for.
 */
import { openServices } from "@vidimus/console/rpc/open-services";
import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { setTimeout as pause } from "node:timers/promises";
import { runCallers } from "./load/caller-load.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import type { LoadResult } from "./load/load-result.ts";
import { readBenchSettings } from "./load/settings.ts";
import { spreadColumns, spreadOf } from "./load/spread.ts";
import { checkBar } from "./load/verdict.ts";
import { cpuMsOf } from "./measure/process-cpu.ts";
import { residentMiB } from "./measure/resident-memory.ts";
import { deliverForConsole } from "./stage/console-deliveries.ts";
import { consolePages, type MeasuredPage, type Shown } from "./stage/console-pages.ts";
import { fillDictionary } from "./stage/console-phrases.ts";
import { fillKeys, fillMembers } from "./stage/console-settings.ts";
import { withoutLimits } from "./stage/open-stage.ts";
import { asReader, openedInvitation, reader, signedIn } from "./stage/signed-in.ts";

/** Pause before memory is read, in which V8 collects what the pages left. */
const settledMs = 30_000;
const idleMs = 60_000;
const serviceNames = ["gateway", "documents", "phrases", "signing", "delivery"] as const;

const { rounds, durationMs } = readBenchSettings();
await using stack = await openProcessConstellation(withoutLimits, {}, { console: true });
const { dev } = stack;
const [tenant] = dev.tenants;
if (!tenant) throw new Error("the dev stack has no tenant");
await using clients = new AsyncDisposableStack();
const { access: accessTarget, documents: documentsTarget, phrases: phrasesTarget, delivery: deliveryTarget } = dev.grpc;
const targets = { accessTarget, documentsTarget, phrasesTarget, deliveryTarget };
const services = openServices(clients, targets, () => undefined);
const session = await signedIn(dev);
await using delivered = await deliverForConsole(dev, services, tenant.id);
const shown: Shown = {
  tenant: tenant.id,
  phrase: await fillDictionary(services.phrases, tenant.id),
  key: await fillKeys(services.access, tenant.id),
  ...(await fillMembers(services.members, tenant.id)),
  endpoint: delivered.endpoint,
  delivery: delivered.delivery,
  replay: delivered.replay,
};
const cookie = `${session}; ${await openedInvitation(dev, shown.code)}`;

async function readTrustList(): Promise<void> {
  const answer = await fetch(new URL("/api/keys", dev.gateway), { headers: { "cache-control": "no-cache" } });
  await answer.text();
  if (!answer.ok) throw new Error(`/api/keys: ${answer.status}`);
}

function pathOf({ route, query }: MeasuredPage): string {
  const path = route.replaceAll(/:(\w+)/g, (_, name: keyof Shown) => shown[name]);
  return query === undefined ? path : `${path}?${query}`;
}

/** Rejects when the page shows that a service does not answer. */
function readPages(path: string): Promise<LoadResult> {
  const url = new URL(path, dev.console);
  const request = httpRequest("GET", path, { host: url.host, cookie });
  const isExpected = (body: string) => !body.includes("does not answer");
  const expected = { expectedStatus: 200, isExpected };
  return runLoad({ url, connections: 1, durationMs: durationMs / 2, ...expected, next: () => request });
}

function callBare({ calls }: MeasuredPage): Promise<LoadResult> {
  const call = async () => {
    await services.members.listMemberships({ identity: reader }, asReader);
    await Promise.all(calls());
  };
  return runCallers({ callers: 1, durationMs: durationMs / 2, call });
}

const pages = consolePages({ ...services, readTrustList }, shown);
// What all pages share is compiled before the first of them is measured.
for (const page of pages) await readPages(pathOf(page));
for (const page of pages) {
  const path = pathOf(page);
  const [ofPage, ofCalls]: [number[], number[]] = [[], []];
  // The first round is the warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    ofPage.push((await readPages(path)).p95Ms);
    ofCalls.push((await callBare(page)).p95Ms);
  }
  const ratios = ofPage.map((ms, index) => ms / (ofCalls[index] ?? Number.NaN)).slice(1);
  const ratio = spreadOf(ratios);
  const columns = { page: spreadOf(ofPage.slice(1)), calls: spreadOf(ofCalls.slice(1)) };
  console.table({
    [path]: { ...spreadColumns("page p95 ms", columns.page), ...spreadColumns("calls p95 ms", columns.calls) },
  });
  checkBar(`${path}: p95, times that of its calls made bare`, ratio.median, { atMost: 2 });
}

await pause(settledMs);
const { pids } = await stack.current();
const pidOf = (name: string) => pids[name] ?? 0;
const ownPid = pidOf("console");
const resident = await Promise.all(serviceNames.map((name) => residentMiB(pidOf(name))));
const smallest = Math.min(...resident);
const own = await residentMiB(ownPid);
console.table({
  "resident MiB": { console: own, ...Object.fromEntries(serviceNames.map((name, at) => [name, resident[at]])) },
});
checkBar(`memory, ${Math.round(own)} MiB, times that of the smallest service`, own / smallest, { atMost: 1.2 });

const before = await cpuMsOf([ownPid]);
await pause(idleMs);
checkBar("CPU seconds in a minute without readers", ((await cpuMsOf([ownPid])) - before) / 1_000, { atMost: 0.3 });
