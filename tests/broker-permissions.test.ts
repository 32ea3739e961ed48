import { findBinary } from "@vidimus/devstack/backing/find-binary";
import { type BackingServer, launch, waitForListener } from "@vidimus/devstack/backing/server";
import { openEventBus } from "@vidimus/kit/nats/event-bus";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { connect } from "nats";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { snapshotStream as consumed } from "../services/delivery/src/snapshot-stream.ts";
import { snapshotStream, snapshotSubject } from "../services/documents/src/snapshot-stream.ts";

const config = new URL("../deploy/k8s/components/nats/nats.conf", import.meta.url);
/** Of the password "pw". */
const bcrypt = "$2a$04$abcdefghijklmnopqrstuuyvPXIbu7xe6/CED2DzX8z6Si09MlzlW";

let folder: string;
let server: BackingServer;

/** The broker of deploy/k8s with its users, but alone and without TLS. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "vidimus-nats-"));
  const deployed = await readFile(config, "utf8");
  const users = /^authorization \{.*?^\}$/ms.exec(deployed)?.[0] ?? "";
  const names = ["GATEWAY", "DOCUMENTS", "DELIVERY"].map((name) => `${name}_PASSWORD_HASH: "${bcrypt}"`);
  const text = [...names, `jetstream { store_dir: "${folder}" }`, users].join("\n");
  await writeFile(join(folder, "nats.conf"), text);
  server = await launch({
    name: "nats-server",
    binary: await findBinary("nats-server"),
    args: (port) => ["--addr", "127.0.0.1", "--port", String(port), "--config", join(folder, "nats.conf")],
    port: 0,
    logFile: join(folder, "nats.log"),
    ready: waitForListener,
    url: (port) => `127.0.0.1:${port}`,
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** The bus as a service opens it, and what the broker refused. */
function openBus(user: string) {
  const log = createLogger(user, "silent");
  const refused = vi.spyOn(log, "warn");
  const bus = openEventBus({ url: `nats://${user}:pw@${server.url}`, name: user, log, registry: new Registry() });
  return Object.assign(bus, { refused });
}

test("each service may do on the broker what it does, and nothing else", async () => {
  await using documents = openBus("documents");
  await using delivery = openBus("delivery");
  await using gateway = openBus("gateway");
  const consumedSizes: number[] = [];
  const heard: string[] = [];
  delivery.consume(
    { stream: consumed, durable: "delivery", ackWaitMs: 1_000, batchMax: 10 },
    { parse: (data) => data.length, handle: async (batch) => void consumedSizes.push(...batch) },
  );
  documents.onBroadcast(snapshotSubject, (data) => void heard.push(Buffer.from(data).toString()));
  gateway.onBroadcast("vidimus.access.evict", (data) => void heard.push(Buffer.from(data).toString()));
  const all = [documents, delivery, gateway];
  await vi.waitFor(() => Promise.all(all.map((bus) => bus.ping())), 10_000);
  await documents.publish(snapshotStream, snapshotSubject, Buffer.from("snapshot"), "1");
  gateway.broadcast("vidimus.access.evict", Buffer.from("eviction"));
  await vi.waitFor(() => expect([consumedSizes, heard.sort()]).toEqual([[8], ["eviction", "snapshot"]]), 10_000);
  for (const bus of all) expect(bus.refused).not.toHaveBeenCalled();

  // Only documents announces snapshots, and only gateways evict keys.
  const forgeries = [
    [gateway, snapshotSubject],
    [delivery, snapshotSubject],
    [documents, "vidimus.access.evict"],
  ] as const;
  for (const [bus, subject] of forgeries) {
    bus.broadcast(subject, Buffer.from("forged"));
    const refusal = [{ reason: "PERMISSIONS_VIOLATION" }, "broker refuses"];
    await vi.waitFor(() => expect(bus.refused.mock.calls).toContainEqual(refusal), 10_000);
  }
  expect(heard).not.toContain("forged");
});

test("nobody gets in without a password", async () => {
  await expect(connect({ servers: server.url })).rejects.toThrow("Authorization Violation");
  await expect(connect({ servers: server.url, user: "documents", pass: "other" })).rejects.toThrow("Authorization");
});
