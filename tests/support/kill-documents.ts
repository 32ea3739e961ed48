import type { ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import type { MongoClient } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import { expect, vi } from "vitest";
import type { Load } from "./documents-load.ts";

/** Kills the documents process a random moment from now, whatever it is at. Answers the pid it had. */
export async function killAnywhere(stack: ProcessConstellation): Promise<number> {
  await pause(Math.random() * 300);
  const pid = await documentsPid(stack);
  process.kill(pid, "SIGKILL");
  return pid;
}

/** Kills the documents process while a transaction of its own is open: freezes it until it is caught at it. */
export async function killInTransaction(stack: ProcessConstellation, mongo: MongoClient): Promise<number> {
  const pid = await documentsPid(stack);
  for (;;) {
    await pause(Math.random() * 30);
    process.kill(pid, "SIGSTOP");
    // What it had sent is through by then: what is open now stays open.
    await pause(20);
    if ((await countOpenTransactions(mongo)) > 0) break;
    process.kill(pid, "SIGCONT");
  }
  process.kill(pid, "SIGKILL");
  return pid;
}

/** Resolves when another process has taken the place of the one that was killed. */
export async function untilRestarted(stack: ProcessConstellation, pid: number): Promise<void> {
  const restarted = async () => expect(await documentsPid(stack)).not.toBe(pid);
  await vi.waitFor(restarted, { timeout: 20_000, interval: 20 });
}

/** Resolves when the work has gone on for a while. */
export async function untilServed({ counts }: Load): Promise<void> {
  const { created, moved } = counts;
  // Far more than are in flight at once: most of them were begun after this call.
  const enough = () => {
    expect(counts.created).toBeGreaterThan(created + 30);
    expect(counts.moved).toBeGreaterThan(moved + 100);
  };
  await vi.waitFor(enough, { timeout: 60_000, interval: 10 });
}

/** Transactions of documents processes that wait for their next statement. */
export async function countOpenTransactions(mongo: MongoClient): Promise<number> {
  const isOpen = { appName: "vidimus-documents", "transaction.parameters.autocommit": false, active: false };
  const stages = [{ $currentOp: { idleSessions: true } }, { $match: isOpen }];
  return (await mongo.db("admin").aggregate(stages).toArray()).length;
}

async function documentsPid(stack: ProcessConstellation): Promise<number> {
  return vi.waitFor(async () => {
    const pid = (await stack.current()).pids["documents"];
    if (pid === undefined) throw new Error("the documents process is not running");
    return pid;
  });
}
