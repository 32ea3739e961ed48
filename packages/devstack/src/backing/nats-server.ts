import { join, resolve } from "node:path";
import { assertPortFree } from "../port-guard.ts";
import { findBinary } from "./find-binary.ts";
import { type BackingServer, launch, waitForListener } from "./server.ts";
import { claimDataDir, pidFiles } from "./data-dir.ts";

export interface NatsServerOptions {
  /** Created when missing. Existing streams are kept. */
  readonly dataDir: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly logFile: string;
  /**
   * Configuration file that requires TLS and grants permissions. Without it every client may do
   * everything.
   */
  readonly configFile?: string | undefined;
  /** `findBinary("nats-server")` by default. */
  readonly binary?: string;
}

/**
 * Starts a NATS server with JetStream on 127.0.0.1 and waits until it is ready. Its `url` is
 * `nats://127.0.0.1:<port>`, or `tls://127.0.0.1:<port>` with a configuration file.
 *
 * @throws PortTakenError, or DevstackError when there is no nats-server, the data folder is in use,
 * or the server does not start
 */
export async function openNatsServer(options: NatsServerOptions): Promise<BackingServer> {
  const dataDir = resolve(options.dataDir);
  const binary = options.binary ?? (await findBinary("nats-server"));
  const { configFile } = options;
  await claimDataDir("nats-server", dataDir);
  if (options.port !== 0) await assertPortFree(options.port, "NATS_PORT");
  return launch({
    name: "nats-server",
    binary,
    args: (port) => {
      const server = ["--addr", "127.0.0.1", "--port", String(port), "--pid", join(dataDir, pidFiles["nats-server"])];
      const config = configFile === undefined ? [] : ["--config", configFile];
      return [...config, ...server, "--jetstream", "--store_dir", dataDir];
    },
    port: options.port,
    logFile: options.logFile,
    ready: waitForListener,
    url: (port) => `${configFile === undefined ? "nats" : "tls"}://127.0.0.1:${port}`,
  });
}
