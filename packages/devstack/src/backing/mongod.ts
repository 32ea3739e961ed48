import { resolve } from "node:path";
import { assertPortFree } from "../port-guard.ts";
import { findBinary } from "./find-binary.ts";
import { becomePrimary, type MongodAccess, operatorUrl, replicaSetName, replicaSetUrl } from "./replica-set.ts";
import { type BackingServer, launch, waitForListener } from "./server.ts";
import { claimDataDir } from "./data-dir.ts";

export interface MongodOptions {
  /** Created when missing. An existing replica set is kept, even if it had another port. */
  readonly dataDir: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly logFile: string;
  /** Election timeout of the set; 2000 by default. A set of one node does not wait for it. */
  readonly electionTimeoutMillis?: number;
  /** Enables `failCommand` and the other fail points, for tests. */
  readonly failPoints?: boolean;
  /**
   * Turns access control on: a client without a password may then read and write nothing.
   * Without access control every local process may do everything, even in a data folder with users.
   */
  readonly access?: MongodAccess | undefined;
  /** `findBinary("mongod")` by default. */
  readonly binary?: string;
}

/**
 * Starts a one-node replica set on 127.0.0.1 and waits until it is writable. Its `url` is
 * `mongodb://127.0.0.1:<port>/?replicaSet=vidimus`; with access control it also names the user
 * `operator` and the password.
 *
 * @throws PortTakenError, or DevstackError when there is no mongod, the data folder is in use, or
 * mongod does not start
 */
export async function openMongod(options: MongodOptions): Promise<BackingServer> {
  const dataDir = resolve(options.dataDir);
  const binary = options.binary ?? (await findBinary("mongod"));
  const { access, electionTimeoutMillis = 2000 } = options;
  await claimDataDir("mongod", dataDir);
  if (options.port !== 0) await assertPortFree(options.port, "MONGODB_PORT");
  return launch({
    name: "mongod",
    binary,
    args: (port) => [...mongodArgs(dataDir, port, options.failPoints ?? false), ...accessArgs(access)],
    port: options.port,
    logFile: options.logFile,
    ready: async (port, signal) => {
      await waitForListener(port, signal);
      await becomePrimary(port, { electionTimeoutMillis, access, signal });
    },
    url: (port) => (access ? operatorUrl(port, access) : replicaSetUrl(port)),
  });
}

function mongodArgs(dataDir: string, port: number, failPoints: boolean): string[] {
  const server = ["--dbpath", dataDir, "--port", String(port), "--bind_ip", "127.0.0.1", "--nounixsocket"];
  // By default mongod uses half of the memory for its cache, a twentieth of the free disk for its
  // oplog, and 300 MB for an empty journal, which each test run would write first.
  const memory = ["--wiredTigerCacheSizeGB", "0.5"];
  const disk = ["--oplogSize", "1024", "--wiredTigerEngineConfigString", "log=(file_max=16MB,prealloc=false)"];
  // The pinned mongod lacks the fix of CVE-2025-14847, which is exploited by messages with zlib, so
  // zlib is off.
  const compression = ["--networkMessageCompressors", "snappy,zstd"];
  const quiet = ["--quiet", "--setParameter", "diagnosticDataCollectionEnabled=false"];
  const tests = failPoints ? ["--setParameter", "enableTestCommands=1"] : [];
  return [...server, "--replSet", replicaSetName, ...memory, ...disk, ...compression, ...quiet, ...tests];
}

function accessArgs(access: MongodAccess | undefined): string[] {
  if (!access) return [];
  // By default a client on this machine may create the first user without a password.
  return ["--auth", "--keyFile", access.keyFile, "--setParameter", "enableLocalhostAuthBypass=false"];
}
