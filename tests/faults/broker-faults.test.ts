import { create, toBinary } from "@bufbuild/protobuf";
import { snapshotSubject, snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { connect, type NatsConnection } from "nats";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { vidimus } from "../support/vidimus.ts";
import { type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";

const subject = snapshotSubject("demo");
/**
 * Delivery's own search skips snapshots that are younger than this, two of its intervals of 1 s, so
 * a snapshot that is delivered sooner came by the broker.
 */
const walkMs = 2_000;

let stack: ProcessConstellation;
let receiver: Receiver;
let newsroom: Newsroom;
let broker: NatsConnection;

beforeAll(async () => {
  stack = await openProcessConstellation();
  receiver = await openReceiver();
  newsroom = openNewsroom(stack.dev);
  await newsroom.endpoints.createEndpoint({ tenantId: newsroom.tenantId, url: receiver.url });
  broker = await connect({ servers: stack.dev.nats.replace("nats://", "") });
});
afterAll(async () => {
  await broker?.close();
  newsroom?.[Symbol.dispose]();
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const page = async (service: "documents" | "delivery" | "gateway", path: string) =>
  (await fetch(`${stack.dev.ops[service]}${path}`)).text();
const readiness = async (service: "documents" | "delivery" | "gateway") => JSON.parse(await page(service, "/readyz"));

async function failuresOf(service: "documents" | "delivery", source: string): Promise<number> {
  const line = (await page(service, "/metrics"))
    .split("\n")
    .find((each) => each.startsWith("vidimus_bus_handling_failures_total{") && each.includes(`source="${source}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

/**
 * Publishes documents one after the other. Each must be delivered before delivery's own search
 * would find it.
 */
async function expectPromptDeliveries(count: number): Promise<void> {
  for (let published = 0; published < count; published++) {
    const documentId = await newsroom.push();
    await newsroom.transition(documentId, "publish");
    await receiver.about(documentId, { ms: walkMs });
  }
}

/**
 * Doctor's findings about services that the broker degrades, as `check status`, and doctor's exit
 * code.
 */
async function doctorOnOps() {
  const ops = Object.entries(stack.dev.ops).map(([name, url]) => `${name}=${url}`);
  const argv = ["doctor", "--gateway", stack.dev.gateway, "--ops", ops.join(","), "--json"];
  const { code, stdout } = await vidimus(argv, { cwd: tmpdir(), sleep: () => Promise.resolve() });
  const { findings } = JSON.parse(stdout) as { findings: Record<string, string>[] };
  const degraded = findings.filter(({ finding }) => finding?.startsWith("degraded: the broker"));
  return { code, degraded: degraded.map(({ check, status }) => `${check} ${status}`).toSorted() };
}

const forged = (documentId: string, sequence: bigint, tenantId = "demo") => {
  const references = [{ tenantId, documentId, sequence }];
  return toBinary(SnapshotReferencesSchema, create(SnapshotReferencesSchema, { references }));
};

describe("a message on the snapshot subject that is no reference", () => {
  const publishTwo = () => {
    for (const text of ["hello", "hello again"]) broker.publish(subject, Buffer.from(text));
  };

  it("is counted as a failure by documents and by delivery", async () => {
    await expectPromptDeliveries(1);
    publishTwo();
    for (const service of ["documents", "delivery"] as const) {
      await vi.waitFor(async () => expect(await failuresOf(service, snapshotSubjects)).toBe(2), { timeout: 10_000 });
    }
  });

  it("delays no delivery", async () => {
    publishTwo();
    await expectPromptDeliveries(3);
    expect(await readiness("documents")).toEqual({ ok: true });
  });
});

describe("a forged reference", () => {
  const unknown = "01890000-0000-7000-8000-00000000dead";

  it.each([
    ["with a sequence above the safe integers", forged(unknown, 2n ** 53n)],
    ["with the largest safe integer as its sequence", forged(unknown, 2n ** 53n - 1n)],
    ["with sequence 0", forged(unknown, 0n)],
    ["with an id of 500,000 characters", forged("x".repeat(500_000), 1n)],
    ["with a NUL as its tenant", forged(unknown, 5n, "\u0000")],
  ])("%s delays no delivery", async (_, data) => {
    broker.publish(subject, data);
    await expectPromptDeliveries(2);
  });

  it("delays no delivery after the delivery process was killed and started again", async () => {
    broker.publish(subject, forged(unknown, 2n ** 53n - 1n));
    await broker.flush();
    const pid = (await stack.current()).pids["delivery"]!;
    process.kill(pid, "SIGKILL");
    await vi.waitFor(async () => expect((await stack.current()).pids["delivery"] ?? pid).not.toBe(pid), 10_000);
    await vi.waitFor(async () => expect(await readiness("delivery")).toEqual({ ok: true }), 10_000);
    await expectPromptDeliveries(2);
  });
});

describe("a broker that is connected and forwards nothing", () => {
  it("is reported by /readyz and doctor while creates succeed, and no longer once it forwards again", async () => {
    const services = ["delivery", "documents", "gateway"] as const;
    const pid = stack.dev.pids["nats"]!;
    process.kill(pid, "SIGSTOP");
    try {
      // An answer that was on its way when the broker was stopped keeps a service ready a little.
      const degraded = { ok: true, degraded: expect.stringContaining("broker") };
      for (const service of services)
        await vi.waitFor(async () => expect(await readiness(service)).toEqual(degraded), 5_000);
      expect(await newsroom.push()).toMatch(/-/);
      expect(await doctorOnOps()).toEqual({ code: 1, degraded: services.map((name) => `${name} ops broken`) });
    } finally {
      process.kill(pid, "SIGCONT");
    }
    for (const service of services)
      await vi.waitFor(async () => expect(await readiness(service)).toEqual({ ok: true }), 15_000);
    expect(await doctorOnOps()).toEqual({ code: 0, degraded: [] });
  });
});
