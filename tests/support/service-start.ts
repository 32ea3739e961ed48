import { mainFile } from "@vidimus/devstack/stack/service-process";
import type { ServiceName } from "@vidimus/devstack/stack/program-names";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

interface StartEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly tookMs: number;
}

/** A service process that is expected to end by itself; killed after 20 s. */
interface ServiceStart {
  readonly child: ChildProcess;
  readonly ended: Promise<StartEnd>;
}

/** Starts a service with exactly these settings, PATH, and the folder of Node's compile cache. */
export function startProcess(name: ServiceName, settings: Readonly<Record<string, string>>): ServiceStart {
  const startedMs = performance.now();
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...settings };
  const child = spawn(process.execPath, [mainFile(name)], { env, stdio: ["ignore", "ignore", "pipe"] });
  const killer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(([code, signal]) => {
    clearTimeout(killer);
    return { code, signal, stderr, tookMs: performance.now() - startedMs };
  });
  return { child, ended };
}
