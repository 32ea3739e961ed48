import { pickFreePort } from "@vidimus/devstack/port-guard";
import type { StackPorts } from "@vidimus/devstack/stack/service-plan";
import type { ServiceName, ServicePorts } from "@vidimus/devstack/stack/program-names";
import { startServiceProcess, untilServiceReady } from "@vidimus/devstack/stack/service-process";
import { vi } from "vitest";

/** A process of a service; each start keeps its ports and log, and changes its pid. */
export interface ReplicaProcess extends AsyncDisposable {
  readonly name: string;
  /** Base URL of the public API, of gateways only. */
  readonly url: string;
  readonly opsUrl: string;
  /** `host:port` of the teams door. */
  readonly teamsTarget: string;
  /** `host:port` of the mesh door. */
  readonly meshTarget: string;
  pid(): number;
  /** Stops the process as a deployment does, and starts another one in its place. */
  restart(): Promise<void>;
  /** Sends SIGKILL, at once; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Stops the process as a deployment does. */
  stop(): Promise<void>;
  /** Starts a process in place of the one that ended, with settings on top of the first one's. */
  start(settings?: NodeJS.ProcessEnv): Promise<void>;
  /** RPCs that the process has handled since its start. */
  handledCalls(): Promise<number>;
}

interface ReplicaOptions {
  readonly service: ServiceName;
  readonly name: string;
  readonly ports: Required<ServicePorts>;
  /** The whole environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
}

/** Starts a process and waits until it is ready. */
export async function openReplica(options: ReplicaOptions): Promise<ReplicaProcess> {
  const { service, name, ports, env, logFile } = options;
  const opsUrl = `http://127.0.0.1:${ports.ops}`;
  let current = await startServiceProcess(service, env, logFile);
  const start = async (settings: NodeJS.ProcessEnv = {}) => {
    current = await startServiceProcess(service, { ...env, ...settings }, logFile);
    await untilServiceReady(service, opsUrl, logFile);
  };
  const stop = async () => current[Symbol.asyncDispose]();
  try {
    await untilServiceReady(service, opsUrl, logFile);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name,
    url: `http://127.0.0.1:${ports.http}`,
    opsUrl,
    teamsTarget: `127.0.0.1:${ports.grpc}`,
    meshTarget: `127.0.0.1:${ports.mesh}`,
    pid: () => current.pid!,
    async restart() {
      await stop();
      await start();
    },
    async kill() {
      process.kill(current.pid!, "SIGKILL");
      await current.exited;
    },
    stop,
    start,
    async handledCalls() {
      const text = await (await fetch(`${opsUrl}/metrics`)).text();
      const counts = text.matchAll(/^vidimus_rpc_handled_seconds_count\{[^}]*\} (\d+)$/gm);
      return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
    },
    [Symbol.asyncDispose]: stop,
  };
}

export async function untilUsed(replica: ReplicaProcess, calls = 10): Promise<void> {
  const before = await replica.handledCalls();
  await vi.waitUntil(async () => (await replica.handledCalls()) >= before + calls, { timeout: 10_000, interval: 50 });
}

/** Ports at which nothing listens, for services that the test does without. */
const noPorts: ServicePorts = { grpc: 1, mesh: 1, ops: 1, http: 1 };

export const nowhere: StackPorts = {
  signing: noPorts,
  documents: noPorts,
  phrases: noPorts,
  delivery: noPorts,
  gateway: noPorts,
};

export async function pickPorts(): Promise<Required<ServicePorts>> {
  const [grpc, mesh, ops, http] = [
    await pickFreePort(),
    await pickFreePort(),
    await pickFreePort(),
    await pickFreePort(),
  ];
  return { grpc, mesh, ops, http };
}
