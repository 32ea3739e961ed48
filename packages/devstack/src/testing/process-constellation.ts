import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevJson, readDevJson } from "../stack/dev-json.ts";
import { openDevStack } from "../stack/dev-stack.ts";
import type { ReplicaCounts } from "../stack/replicas.ts";
import { freePorts } from "./free-ports.ts";

/** A dev stack of real processes on free ports, with its state in a temporary folder. */
export interface ProcessConstellation extends AsyncDisposable {
  readonly dev: DevJson;
  readonly stateDir: string;
  /** Environment of services and console that start from now on; a test may change it. */
  readonly env: NodeJS.ProcessEnv;
  /** Reads dev.json again: pids differ after a restart. */
  current(): Promise<DevJson>;
}

/**
 * Starts what `npm start` starts, the console only if `also` says so; with certificates when
 * VIDIMUS_TEST_MTLS is `on`. For tests, benchmarks and scripts that need real processes.
 *
 * @param env settings that override this process's environment
 * @param replicas services with more than one process
 */
export async function openProcessConstellation(
  env: NodeJS.ProcessEnv = {},
  replicas: ReplicaCounts = {},
  also: { readonly console?: boolean } = {},
): Promise<ProcessConstellation> {
  await using stack = new AsyncDisposableStack();
  const stateDir = await mkdtemp(join(tmpdir(), "vidimus-stack-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true }));
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, ...inherited } = process.env;
  const settings: NodeJS.ProcessEnv = { ...inherited, LOG_LEVEL: "warn", ...(await freePorts()), ...env };
  const dev = stack.use(
    await openDevStack({
      stateDir,
      env: settings,
      mtls: process.env["VIDIMUS_TEST_MTLS"] === "on",
      replicas,
      ...also,
      report: () => {},
    }),
  ).dev;
  const running = stack.move();
  return {
    dev,
    stateDir,
    env: settings,
    current: async () => (await readDevJson(stateDir)) ?? dev,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
