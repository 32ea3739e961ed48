import type { ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import type { MongoClient } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import { patient } from "@vidimus/kit/testing/patient";
import { expect, vi } from "vitest";
import type { Load } from "./documents-load.ts";

/** Kills the documents process within 300 ms, at a random moment. Returns its pid. */
export async function killAnywhere(stack: ProcessConstellation): Promise<number> {
  await pause(Math.random() * 300);
  const pid = await documentsPid(stack);
  process.kill(pid, "SIGKILL");
  return pid;
}

/** Kills the documents process while it has an open transaction. Returns its pid. */
export async function killInTransaction(stack: ProcessConstellation, mongo: MongoClient): Promise<number> {
  const pid = await documentsPid(stack);
  for (;;) {
    await pause(Math.random() * 30);
    process.kill(pid, "SIGSTOP");
    // Statements sent before the stop end within this time: a transaction open after it stays open.
    await pause(20);
    if ((await countOpenTransactions(mongo)) > 0) break;
    process.kill(pid, "SIGCONT");
  }
  process.kill(pid, "SIGKILL");
  return pid;
}

/** Resolves when a documents process with another pid runs, ready or not. */
export async function untilRestarted(stack: ProcessConstellation, pid: number): Promise<void> {
  const restarted = async () => expect(await documentsPid(stack)).not.toBe(pid);
  await vi.waitFor(restarted, { timeout: 20_000, interval: 20 });
}

export async function untilServed({ counts }: Load): Promise<void> {
  const { created, transitioned } = counts;
  // Far more than are in flight at once, so most of them began after this call.
  const enough = () => {
    expect(counts.created).toBeGreaterThan(created + 30);
    expect(counts.transitioned).toBeGreaterThan(transitioned + 100);
  };
  await vi.waitFor(enough, { timeout: 60_000, interval: 10 });
}

/**
 * Counts the transactions of documents processes that are open and wait for their next statement.
 */
async function countOpenTransactions(mongo: MongoClient): Promise<number> {
  const isOpen = { appName: "vidimus-documents", "transaction.parameters.autocommit": false, active: false };
  const stages = [{ $currentOp: { idleSessions: true } }, { $match: isOpen }];
  return (await mongo.db("admin").aggregate(stages).toArray()).length;
}

async function documentsPid(stack: ProcessConstellation): Promise<number> {
  return vi.waitFor(async () => {
    const pid = (await stack.current()).pids["documents"];
    if (pid === undefined) throw new Error("the documents process is not running");
    return pid;
  }, patient);
}
