import { readFile } from "node:fs/promises";

/** Ticks a second of the kernel's accounting: USER_HZ, 100 on Linux. */
const ticksPerSecond = 100;

/** CPU milliseconds that processes have used since their start, in user and kernel mode (Linux). */
export async function cpuMsOf(pids: readonly number[]): Promise<number> {
  const used = await Promise.all(pids.map(cpuTicks));
  return (used.reduce((sum, ticks) => sum + ticks, 0) * 1_000) / ticksPerSecond;
}

async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name of the program is in parentheses and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
