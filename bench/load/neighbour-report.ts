import type { ServicesMemory } from "../measure/service-memory.ts";
import { watchedServices } from "../measure/service-memory.ts";
import { type NeighbourTurn, neighbourWork } from "./neighbour.ts";

export interface FormResult {
  readonly name: string;
  readonly turns: Readonly<Record<"before" | "idle" | "during" | "after", NeighbourTurn>>;
  /** The form's entry of the `AttackTally`. */
  readonly tally: Readonly<Record<string, number>>;
  readonly memory: ServicesMemory;
}

/** A p99 up to this is always accepted. */
const p99MsAllowed = 50;
const timesIdleMax = 3;
/** A p99 above this before the attack means that other work uses the machine. */
const quietP99Ms = 50;
const peakMiBMax = 256;
const laterMiBMax = 64;

const header = ["form", "work", "before", "idle", "during", "after", "5xx, other", "MiB: idle, peak, a minute later"];

export function reportNeighbours(results: readonly FormResult[]): void {
  console.log("p50/p99 in ms; idle: while the same attack hits a bare listener; failures: during and after");
  printTable([header, ...results.flatMap(toRows)]);
  for (const result of results) {
    const misses = missesOf(result);
    const noisy = neighbourWork.filter((work) => result.turns.before[work].p99Ms > quietP99Ms);
    const told = Object.entries(result.tally).map(([outcome, count]) => `${outcome} × ${count}`);
    console.log(`${misses.length === 0 ? "met   " : "MISSED"} ${result.name}: ${misses.join("; ") || "every bar"}`);
    console.log(`       its attacker was answered: ${told.join(", ")}`);
    if (noisy.length > 0)
      console.log(`VOID   ${result.name}: p99 of ${noisy.join(", ")} above ${quietP99Ms} ms before`);
  }
}

/** One row for each kind of work. The first rows also have the memory of one service each. */
function toRows({ name, turns, memory }: FormResult): string[][] {
  const { before, idle, during, after } = turns;
  return neighbourWork.map((work, index) => {
    const latencies = [before, idle, during, after].map(
      ({ [work]: load }) => `${shown(load.p50Ms)}/${shown(load.p99Ms)}`,
    );
    const serverErrors = during[work].serverErrors + after[work].serverErrors;
    const otherFailures = during[work].otherFailures + after[work].otherFailures;
    const service = watchedServices[index];
    const { idle: low, peak, later } = service ? memory[service] : {};
    const grown = service ? `${service} ${[low, peak, later].map((mib = 0) => shown(mib)).join(" ")}` : "";
    return [index === 0 ? name : "", work, ...latencies, `${serverErrors}, ${otherFailures}`, grown];
  });
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

function missesOf({ turns: { idle, during, after }, memory }: FormResult): string[] {
  const misses: string[] = [];
  const check = (what: string, value: number, atMost: number) => {
    if (!(value <= atMost)) misses.push(`${what} ${shown(value)} (bar: ${shown(atMost)})`);
  };
  for (const work of neighbourWork) {
    check(`p99 of ${work}`, during[work].p99Ms, Math.max(timesIdleMax * idle[work].p99Ms, p99MsAllowed));
    check(`5xx of ${work}`, during[work].serverErrors + after[work].serverErrors, 0);
    check(`other failures of ${work}`, during[work].otherFailures + after[work].otherFailures, 0);
  }
  for (const name of watchedServices) {
    const { idle: low, peak, later, hasDied } = memory[name];
    check(`growth of ${name} at its peak`, peak - low, peakMiBMax);
    check(`growth of ${name} a minute later`, later - low, laterMiBMax);
    if (hasDied) misses.push(`${name} died`);
  }
  return misses;
}

function shown(value: number): string {
  return Math.round(value).toLocaleString("en");
}
