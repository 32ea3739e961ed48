/**
 * What an attack on the gateway does to normal traffic: creates and pages of published documents at
 * a fixed rate, alone and while slow, large, inflated, deep and broken requests come in; and how
 * much the gateway's memory grows.
 */
import { type AttackTally, startAttack } from "./load/attacker.ts";
import type { LoadResult } from "./load/load-result.ts";
import { runPaced } from "./load/paced-load.ts";
import { readBenchSettings } from "./load/settings.ts";
import { spreadOf } from "./load/spread.ts";
import { checkBar } from "./load/verdict.ts";
import { article } from "./load/article.ts";
import { openStage } from "./stage/open-stage.ts";
import { seedPublications } from "./stage/publications.ts";
import { watchMemory } from "./measure/resident-memory.ts";

interface Turn {
  readonly creates: LoadResult;
  readonly pages: LoadResult;
  readonly peakMiB: number;
}

const { rounds, durationMs } = readBenchSettings();
// By default 15 s: slow requests reach their deadlines, the last of them after 10 s.
const turnMs = 3 * durationMs;
const perSecond = 50;
/** A higher idle p99 means that other work uses the machine, which voids the figures. */
const idleP99MsMax = 50;
const answerMsMax = 30_000;

await using stage = await openStage();
const { apiKey, constellation } = stage;
const { gateway, pids } = constellation.dev;
await seedPublications(stage.documents, stage.tenantId, 10_000);

// A warm-up turn, because a process grows while it warms up, which must not count as the attack's.
await runTurn();
const pairs: { idle: Turn; attacked: Turn }[] = [];
const tallies: AttackTally[] = [];
for (let round = 0; round < rounds; round += 1) {
  const idle = await runTurn();
  const { tally, ...attacked } = await underAttack();
  tallies.push(tally);
  pairs.push({ idle, attacked });
}
report();

async function runTurn(): Promise<Turn> {
  const pid = pids["gateway"];
  if (pid === undefined) throw new Error("no gateway runs");
  const memory = watchMemory(pid);
  const [creates, pages] = await Promise.all([
    runPaced({ perSecond, durationMs: turnMs, send: create }),
    runPaced({ perSecond, durationMs: turnMs, send: readPage }),
  ]);
  return { creates, pages, peakMiB: await memory.peakMiB() };
}

async function underAttack(): Promise<Turn & { tally: AttackTally }> {
  const attack = await startAttack({ url: gateway, apiKey, tenantId: stage.tenantId, documents: undefined }, "all");
  const turn = await runTurn();
  return { ...turn, tally: await attack.stop() };
}

async function create(): Promise<void> {
  const body = JSON.stringify(article(2_000));
  await exchange("/v1/documents", 201, { method: "POST", body });
}

async function readPage(): Promise<void> {
  await exchange("/v1/documents?type=core/article&limit=50", 200, {});
}

async function exchange(path: string, status: number, init: { method?: string; body?: string }): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const signal = AbortSignal.timeout(answerMsMax);
  const response = await fetch(new URL(path, gateway), { ...init, headers, signal });
  const text = await response.text();
  if (response.status !== status) throw new Error(`${path} answered ${response.status} ${text}`);
}

function report(): void {
  const rows = pairs.map(({ idle, attacked }) => ({
    "idle p99 ms (creates)": rounded(idle.creates.p99Ms),
    "attacked p99 ms (creates)": rounded(attacked.creates.p99Ms),
    "idle p99 ms (pages)": rounded(idle.pages.p99Ms),
    "attacked p99 ms (pages)": rounded(attacked.pages.p99Ms),
    "idle peak MiB": rounded(idle.peakMiB),
    "attacked peak MiB": rounded(attacked.peakMiB),
  }));
  console.table(rows);
  console.table(Object.fromEntries(Object.keys(tallies[0] ?? {}).map((name) => [name, outcomesOf(name)])));
  const ratio = (kind: "creates" | "pages") =>
    spreadOf(pairs.map(({ idle, attacked }) => attacked[kind].p99Ms / idle[kind].p99Ms)).median;
  const growth = Math.max(...pairs.map(({ attacked }) => attacked.peakMiB)) - (pairs[0]?.idle.peakMiB ?? Number.NaN);
  const idleP99Ms = spreadOf(pairs.map(({ idle }) => Math.max(idle.creates.p99Ms, idle.pages.p99Ms))).median;
  const verdict = idleP99Ms <= idleP99MsMax ? "stands" : "VOID  ";
  console.log(`${verdict} idle p99: ${rounded(idleP99Ms)} ms (a quiet machine: at most ${idleP99MsMax} ms)`);
  checkBar("p99 of creates during the attack, times idle", ratio("creates"), { atMost: 3 });
  checkBar("p99 of pages during the attack, times idle", ratio("pages"), { atMost: 3 });
  checkBar("the gateway's growth from before the first attack, MiB", growth, { atMost: 64 });
}

function outcomesOf(name: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [outcome, count] of tallies.flatMap((tally) => Object.entries(tally[name] ?? {}))) {
    sums[outcome] = (sums[outcome] ?? 0) + count;
  }
  return sums;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
