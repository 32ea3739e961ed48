import { findBinary } from "@vidimus/devstack/backing/find-binary";
import { type BackingServer, launch, waitForListener } from "@vidimus/devstack/backing/server";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { patient } from "@vidimus/kit/testing/patient";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { connect } from "nats";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openDeployedBroker } from "../support/deployed-broker.ts";

const authority = createAuthority();
const domain = "spiffe://vidimus.localhost";
let folder: string;
let clusterPort: number;
let monitorPort: number;
let server: BackingServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "vidimus-cluster-"));
  clusterPort = await pickFreePort();
  monitorPort = await pickFreePort();
  const tls = await issue(
    "first",
    ["nats", "nats.vidimus", "nats.vidimus.svc", "*.nats", "localhost", "127.0.0.1"],
    "nats",
  );
  server = await openDeployedBroker({ folder: join(folder, "nats-0"), tls, clusterPort, monitorPort });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function issue(name: string, hosts: readonly string[], path: string): Promise<TlsFiles> {
  const { cert, key } = authority.issue({ uris: [`${domain}/${path}`], hosts });
  const dir = join(folder, "tls");
  await mkdir(dir, { recursive: true });
  const files = {
    certFile: join(dir, `${name}.pem`),
    keyFile: join(dir, `${name}-key.pem`),
    caFile: join(dir, "ca.pem"),
  };
  await writeFile(files.certFile, cert);
  await writeFile(files.keyFile, key, { mode: 0o600 });
  await writeFile(files.caFile, authority.pair.cert);
  return files;
}

/**
 * Starts a server that lets every client in, and that tries to join the cluster with a certificate.
 */
async function joinCluster(name: string, { certFile, keyFile, caFile }: TlsFiles): Promise<BackingServer> {
  const config = join(folder, `${name}.conf`);
  const route = `nats://127.0.0.1:${clusterPort}`;
  await writeFile(
    config,
    `server_name: ${name}
cluster {
  name: vidimus
  listen: "127.0.0.1:${await pickFreePort()}"
  routes: ["${route}"]
  tls { cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${caFile}", verify: true }
}`,
  );
  return launch({
    name: "nats-server",
    binary: await findBinary("nats-server"),
    args: (port) => ["--addr", "127.0.0.1", "--port", String(port), "--config", config],
    port: 0,
    logFile: logOf(name),
    ready: waitForListener,
    url: (port) => `nats://127.0.0.1:${port}`,
  });
}

function logOf(name: string): string {
  return join(folder, `${name}.log`);
}

/**
 * What a client of the joined server hears when the documents service announces a snapshot; "no
 * route" when the cluster has refused the server.
 */
async function heardOn(joined: BackingServer, name: string): Promise<string> {
  await using outcome = new AsyncDisposableStack();
  const client = outcome.adopt(await connect({ servers: joined.url }), (open) => open.close());
  const heard: string[] = [];
  client.subscribe("vidimus.>", { callback: (_error, message) => void heard.push(message.string()) });
  const tls = await issue("documents", ["documents", "documents.vidimus"], "documents");
  const documents = outcome.adopt(await connect({ servers: server.url, tls }), (open) => open.close());
  return await vi.waitFor(async () => {
    documents.publish("vidimus.snapshots.v1.0.0", "a snapshot");
    await documents.flush();
    if (heard[0] !== undefined) return heard[0];
    expect(await readFile(logOf(name), "utf8")).toMatch(/Router connection closed|TLS route handshake error/);
    const monitor = await fetch(`http://127.0.0.1:${monitorPort}/routez`);
    expect(await monitor.json()).toMatchObject({ num_routes: 0 });
    return "no route";
  }, patient);
}

// nats.conf sets `verify_cert_and_check_known_urls`; with `verify` a server with any certificate of
// the authority could join.
test.each([
  ["a team's certificate", "team", ["newsroom.example"], "team/newsroom"],
  ["a service's certificate", "service", ["delivery", "delivery.vidimus"], "delivery"],
  ["a certificate without hosts", "nameless", [], "nats"],
] as const)("a server with %s cannot join the broker's cluster", async (_what, name, hosts, path) => {
  await using joined = await joinCluster(name, await issue(name, hosts, path));
  expect(await heardOn(joined, name)).toBe("no route");
});

test("a server whose certificate is for a host of the cluster's routes joins the cluster", async () => {
  await using joined = await joinCluster("server", await issue("server", ["nats", "*.nats"], "nats"));
  expect(await heardOn(joined, "server")).toBe("a snapshot");
});
