import { partitionOf, snapshotSubject, snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import type { BackingServer } from "@vidimus/devstack/backing/server";
import { type DevIdentities, makeIdentities } from "@vidimus/devstack/stack/dev-identities";
import { type EventBus, openEventBus } from "@vidimus/kit/nats/event-bus";
import { createLogger } from "@vidimus/kit/telemetry/log";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { connect } from "nats";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { snapshotStream } from "../../services/documents/src/snapshot-stream.ts";
import { openDeployedBroker } from "../support/deployed-broker.ts";

let folder: string;
let identities: DevIdentities;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "vidimus-nats-"));
  identities = await makeIdentities(join(folder, "tls"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The broker of the dev stack. */
function openOwn(): Promise<BackingServer> {
  const { brokerConfig: configFile } = identities;
  return openNatsServer({ dataDir: join(folder, "own"), port: 0, logFile: join(folder, "own.log"), configFile });
}

/** The broker of deploy/k8s, as a single server instead of a cluster. */
function openDeployed(): Promise<BackingServer> {
  const [certFile, keyFile, caFile] = ["nats.pem", "nats-key.pem", "ca.pem"].map((name) => join(folder, "tls", name));
  return openDeployedBroker({ folder: join(folder, "deployed"), tls: { certFile, keyFile, caFile } as TlsFiles });
}

/** Adds the messages of a subject to `heard`, as `name: text`. */
function hear(heard: string[], bus: EventBus, name: string, subject: string): void {
  bus.onBroadcast(subject, (data) => void heard.push(`${name}: ${Buffer.from(data).toString()}`));
}

describe.each([
  ["the dev stack", openOwn],
  ["deploy/k8s", openDeployed],
])("on the broker of %s", (_name, open) => {
  let server: BackingServer;
  beforeAll(async () => void (server = await open()));
  afterAll(() => server?.[Symbol.asyncDispose]());

  /**
   * The bus as a service opens it, with spies on what it logs: what the broker refused, and news of
   * the stream.
   */
  function openBus(service: "documents" | "delivery" | "gateway") {
    const log = createLogger(service, "silent");
    const refused = vi.spyOn(log, "warn");
    const told = vi.spyOn(log, "info");
    const name = service === "documents" ? "vidimus-documents" : service;
    const options = { url: server.url, tls: identities.services[service], name, log, registry: new Registry() };
    return Object.assign(openEventBus(options), { refused, told });
  }

  const refusal = [{ reason: "PERMISSIONS_VIOLATION" }, "broker refuses"];

  test("documents, delivery and gateway may publish and listen on the subjects that they use", async () => {
    await using documents = openBus("documents");
    await using delivery = openBus("delivery");
    await using gateway = openBus("gateway");
    const heard: string[] = [];
    hear(heard, delivery, "delivery", `vidimus.snapshots.v1.*.${partitionOf("demo")}`);
    hear(heard, documents, "documents", snapshotSubjects);
    hear(heard, gateway, "gateway", "vidimus.access.evict");
    documents.keepStream(snapshotStream(1));
    const all = [documents, delivery, gateway];
    await vi.waitFor(() => Promise.all(all.map((bus) => bus.ping())), patient);
    documents.broadcast(snapshotSubject("demo"), Buffer.from("snapshot"));
    gateway.broadcast("vidimus.access.evict", Buffer.from("eviction"));
    const expected = ["delivery: snapshot", "documents: snapshot", "gateway: eviction"];
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(expected), patient);
    // A bus with other settings updates the stream.
    await using newer = openBus("documents");
    newer.keepStream({ ...snapshotStream(1), bytesMax: 1_048_576 });
    const made = [{ stream: "VIDIMUS_SNAPSHOTS" }, "stream of the broker made"];
    for (const bus of [documents, newer]) {
      await vi.waitFor(() => expect(bus.told.mock.calls).toContainEqual(made), patient);
    }
    for (const bus of [...all, newer]) expect(bus.refused).not.toHaveBeenCalled();
  });

  // Only documents announces snapshots, only gateways evict keys, and no service writes to
  // another's inbox.
  test.each([
    ["gateway", snapshotSubject("demo")],
    ["delivery", snapshotSubject("demo")],
    ["documents", "vidimus.access.evict"],
    ["delivery", "_INBOX.gateway.forged"],
  ] as const)("%s may not publish to %s, and no listener hears the attempt", async (service, subject) => {
    await using bus = openBus(service);
    await using documents = openBus("documents");
    await using gateway = openBus("gateway");
    const heard: string[] = [];
    hear(heard, documents, "documents", snapshotSubjects);
    hear(heard, gateway, "gateway", "vidimus.access.evict");
    hear(heard, gateway, "gateway", "_INBOX.gateway.forged");
    await vi.waitFor(() => Promise.all([bus, documents, gateway].map((each) => each.ping())), patient);
    bus.broadcast(subject, Buffer.from("forged"));
    await vi.waitFor(() => expect(bus.refused.mock.calls).toContainEqual(refusal), patient);
    documents.broadcast(snapshotSubject("demo"), Buffer.from("snapshot"));
    gateway.broadcast("vidimus.access.evict", Buffer.from("eviction"));
    const genuine = ["documents: snapshot", "gateway: eviction"];
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(genuine), patient);
  });

  test.each([
    ["gateway", snapshotSubject("demo")],
    ["gateway", "_INBOX.delivery.>"],
    ["delivery", "vidimus.access.evict"],
    ["documents", "vidimus.access.evict"],
    ["documents", ">"],
    ["gateway", "$JS.>"],
  ] as const)("%s may not listen to %s", async (service, subject) => {
    await using bus = openBus(service);
    bus.onBroadcast(subject, () => {});
    await vi.waitFor(() => expect(bus.refused.mock.calls).toContainEqual(refusal), patient);
  });

  test("nobody connects without a certificate of a service that uses the broker", async () => {
    const { caFile } = identities.operator;
    const stranger = (await makeIdentities(join(folder, "elsewhere"))).services.documents;
    const attempts: readonly [string, Partial<TlsFiles>][] = [
      ["no certificate", { caFile }],
      ["another authority", { ...stranger, caFile }],
      ["a service that uses no broker", identities.services.signing],
      ["the operator", identities.operator],
    ];
    for (const [name, tls] of attempts) {
      const outcome = await connect({ servers: server.url, tls, reconnect: false, timeout: 5_000 }).then(
        () => "in",
        () => "out",
      );
      expect([name, outcome]).toEqual([name, "out"]);
    }
    // The broker goes by the certificate, and ignores a name and a password.
    const said = { user: "spiffe://vidimus.localhost/documents", pass: "x" };
    await expect(connect({ servers: server.url, tls: { caFile }, ...said, reconnect: false })).rejects.toThrow();
  });
});
