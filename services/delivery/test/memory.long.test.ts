import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, it, vi } from "vitest";
import { snapshotOf } from "./support/feed.ts";
import { openReceiver } from "./support/receiver.ts";
import { openDelivery, openDeliveryProcess, openWorld, type World } from "./support/world.ts";

const [endpoints, documents] = [20, 32];

/** Publishes a snapshot of a megabyte. */
function publishLarge(world: World, tenantId: string): void {
  const json = JSON.stringify({ content: "x".repeat(1_000_000), id: randomUUID() });
  const sha256 = createHash("sha256").update(json).digest();
  world.feed.publish({ ...snapshotOf(tenantId, randomUUID()), json, sha256 });
}

/** The most resident memory that a process has had, in MiB. */
async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

it("with 640 due webhooks of a megabyte a process stays below 384 MiB, before and after a restart", async () => {
  await using world = await openWorld();
  let isUp = false;
  await using receiver = await openReceiver((_webhook, response) => {
    receiver.received.length = 0;
    // The answer takes long enough that as many attempts are in flight as may be.
    setTimeout(() => response.writeHead(isUp ? 204 : 503).end(), isUp ? 0 : 500);
  });
  const tenants = Array.from({ length: endpoints }, (_, n) => `large_${n}`);
  const registering = await openDelivery(world);
  for (const tenantId of tenants) await registering.endpoint(tenantId, receiver.url);
  await registering[Symbol.asyncDispose]();
  for (const tenantId of tenants) for (let n = 0; n < documents; n += 1) publishLarge(world, tenantId);
  const count = (state: "pending" | "delivered") => world.deliveries().countDocuments({ state });
  const peaks: number[] = [];
  const patience = { timeout: 300_000, interval: 200 };
  {
    await using process = await openDeliveryProcess(world, { attemptMs: 15_000 });
    await vi.waitUntil(async () => (await count("pending")) === endpoints * documents, patience);
    peaks.push(await peakOf(process.pid));
  }
  isUp = true;
  {
    await using process = await openDeliveryProcess(world, { attemptMs: 15_000 });
    await vi.waitUntil(async () => (await count("delivered")) === endpoints * documents, patience);
    peaks.push(await peakOf(process.pid));
  }
  expect(Math.max(...peaks), peaks.map((each) => `${Math.round(each)} MiB`).join(", ")).toBeLessThan(384);
});
