/**
 * The cost of one call between two services: our client and mesh door compared with plain grpc-js
 * on both ends, an empty request, 1 and 16 callers. Each end is a process of its own, so that the
 * CPU of both is counted.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { compare, type Side } from "./load/compare.ts";
import { readBenchSettings } from "./load/settings.ts";
import { spreadOf } from "./load/spread.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";

const { rounds, durationMs } = readBenchSettings();
const program = new URL("baselines/rpc-end.ts", import.meta.url);

interface Tally {
  readonly calls: number;
  readonly elapsedMs: number;
  readonly cpuMicros: number;
}

/**
 * One side. Its server runs for the whole benchmark, its client for one turn. `turn` adds the CPU
 * per call of both ends to `microsPerCall`.
 */
async function openSide(name: "ours" | "bare") {
  const server = fork(program, [name, "server"]);
  const { port } = await answerOf<{ port: number }>(server);
  const serverMicros = async () => {
    server.send("cpu");
    return (await answerOf<{ cpuMicros: number }>(server)).cpuMicros;
  };
  const turn = async (callers: number, microsPerCall: number[]) => {
    const client = fork(program, [name, "client", port, callers, durationMs].map(String));
    await answerOf(client);
    const before = await serverMicros();
    const { calls, elapsedMs, cpuMicros } = await answerOf<Tally>(client);
    microsPerCall.push((cpuMicros + (await serverMicros()) - before) / calls);
    return { perSecond: (calls * 1_000) / elapsedMs };
  };
  return { turn, [Symbol.dispose]: () => server.disconnect() };
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const answered = new AbortController();
  const { signal } = answered;
  const gone = once(child, "exit", { signal }).then(([code]) => Promise.reject(new Error(`an end left: ${code}`)));
  try {
    const [answer]: unknown[] = await Promise.race([once(child, "message", { signal }), gone]);
    return answer as T;
  } finally {
    gone.catch(() => undefined);
    answered.abort();
  }
}

using ours = await openSide("ours");
using bare = await openSide("bare");
// Calls per second of grpc-js alone on a quiet machine with two cores.
const stated = new Map([
  [1, 3_000],
  [16, 6_000],
]);
for (const [callers, perSecond] of stated) {
  const cpu = { ours: [] as number[], bare: [] as number[] };
  const side = (name: string, from: typeof ours, micros: number[]): Side => ({
    name,
    run: () => from.turn(callers, micros),
  });
  const { ratio, baseline } = await compare(side("ours", ours, cpu.ours), side("grpc-js", bare, cpu.bare), rounds);
  // The first turn of each side is the warm-up.
  const [mine, theirs] = [cpu.ours.slice(1), cpu.bare.slice(1)];
  const cpuRatio = spreadOf(mine.map((micros, index) => micros / (theirs[index] ?? Number.NaN))).median;
  const [micros, bareMicros] = [mine, theirs].map((all) => Math.round(spreadOf(all).median));
  const who = callers === 1 ? "1 caller" : `${callers} callers`;
  checkBaseline(`grpc-js, ${who}`, baseline.perSecond, perSecond);
  checkBar(`${who}: calls/s, times bare grpc-js`, ratio, { atLeast: 0.6 });
  checkBar(`${who}: CPU of both ends a call, ${micros} µs, times ${bareMicros} µs`, cpuRatio, { atMost: 1.6 });
}
