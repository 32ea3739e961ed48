import { findBinary } from "@vidimus/devstack/backing/find-binary";
import { type BackingServer, launch, waitForListener } from "@vidimus/devstack/backing/server";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const deployed = fileURLToPath(new URL("../../deploy/k8s/components/nats", import.meta.url));

interface DeployedBrokerOptions {
  /** Folder for the server's configuration, store and log. */
  readonly folder: string;
  readonly tls: TlsFiles;
  /** Port for the other servers of its cluster. Without one the server is alone. */
  readonly clusterPort?: number;
  /** Without it the server has no monitoring endpoint. */
  readonly monitorPort?: number;
}

/**
 * Starts a server on 127.0.0.1 with the broker configuration of deploy/k8s, but for paths and
 * ports. Its permissions are for services of the trust domain `vidimus.localhost`.
 */
export async function openDeployedBroker(options: DeployedBrokerOptions): Promise<BackingServer> {
  const { folder, monitorPort } = options;
  await cp(deployed, folder, { recursive: true });
  const config = join(folder, "nats.conf");
  await writeFile(config, toLocal(await readFile(config, "utf8"), options));
  const names = ["gateway", "documents", "delivery"].map((service) => [
    `${service.toUpperCase()}_IDENTITY`,
    `spiffe://vidimus.localhost/${service}`,
  ]);
  const monitoring = monitorPort === undefined ? [] : ["--http_port", String(monitorPort)];
  return launch({
    name: "nats-server",
    binary: await findBinary("nats-server"),
    args: (port) => ["--addr", "127.0.0.1", "--port", String(port), "--config", config, ...monitoring],
    env: { ...process.env, POD_NAME: "nats-0", ...Object.fromEntries(names) },
    port: 0,
    logFile: join(folder, "nats.log"),
    ready: waitForListener,
    url: (port) => `tls://127.0.0.1:${port}`,
  });
}

function toLocal(text: string, { folder, tls, clusterPort }: DeployedBrokerOptions): string {
  const local = text
    .replaceAll("/etc/nats-tls/tls.crt", tls.certFile)
    .replaceAll("/etc/nats-tls/tls.key", tls.keyFile)
    .replaceAll("/etc/nats-tls/ca.crt", tls.caFile)
    .replace("store_dir: /data", `store_dir: ${join(folder, "data")}`)
    .replace(/^(http|pid_file):.*$/gm, "");
  if (clusterPort === undefined) return local.replace(/^cluster \{.*?^\}$/ms, "");
  return local.replace(/^  port: 6222$/m, `  host: 127.0.0.1\n  port: ${clusterPort}`);
}
