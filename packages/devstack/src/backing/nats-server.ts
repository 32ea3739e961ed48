import { join, resolve } from "node:path";
import { assertPortFree } from "../port-guard.ts";
import { findBinary } from "./find-binary.ts";
import { type BackingServer, launch, waitForListener } from "./server.ts";
import { claimDataDir, pidFiles } from "./takeover.ts";

export interface NatsServerOptions {
  /** Created when missing. Streams found in it are kept. */
  readonly dataDir: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly logFile: string;
  /** `findBinary("nats-server")` when left out. */
  readonly binary?: string;
}

/**
 * A NATS server with JetStream on 127.0.0.1, ready when this resolves; its `url` is `nats://127.0.0.1:<port>`.
 * Throws PortTakenError, or DevstackError when there is no nats-server, the data folder is in use, or it does not start.
 */
export async function openNatsServer(options: NatsServerOptions): Promise<BackingServer> {
  const dataDir = resolve(options.dataDir);
  const binary = options.binary ?? (await findBinary("nats-server"));
  await claimDataDir("nats-server", dataDir);
  if (options.port !== 0) await assertPortFree(options.port, "NATS_PORT");
  return launch({
    name: "nats-server",
    binary,
    args: (port) => {
      const place = ["--addr", "127.0.0.1", "--port", String(port), "--pid", join(dataDir, pidFiles["nats-server"])];
      return [...place, "--jetstream", "--store_dir", dataDir];
    },
    port: options.port,
    logFile: options.logFile,
    ready: waitForListener,
    url: (port) => `nats://127.0.0.1:${port}`,
  });
}
