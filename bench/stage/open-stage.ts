import { type Child, startChild } from "@vidimus/devstack/child";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { type Db, MongoClient } from "mongodb";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readBenchSettings } from "../load/settings.ts";

/**
 * The service processes, by default without limits, and baselines beside them on the same mongod.
 */
export interface Stage extends AsyncDisposable {
  readonly constellation: ProcessConstellation;
  readonly tenantId: string;
  readonly apiKey: string;
  readonly documents: Db;
  /**
   * Starts `baselines/NAME.ts` in a process of its own, and returns its base URL once it listens.
   * The baseline gets MONGODB_URL, its own database in MONGODB_DATABASE, and its port in HTTP_PORT.
   */
  startBaseline(name: string): Promise<string>;
}

export const documentsDatabase = "vidimus_documents";

/** Limits would distort the figures. */
export const withoutLimits = { IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" };

/**
 * Disposing of the stage also stops its baselines.
 *
 * @param env settings of the services, which override this process's environment
 */
export async function openStage(env: NodeJS.ProcessEnv = withoutLimits): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const constellation = stack.use(await openProcessConstellation(env));
  const { dev } = constellation;
  const mongo = stack.adopt(await new MongoClient(dev.mongodb).connect(), (client) => client.close());
  const { historySeconds } = readBenchSettings();
  await mongo.db("admin").command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: historySeconds });
  const [tenant] = dev.tenants;
  if (!tenant) throw new Error("the dev stack has no tenant");
  const opened = stack.move();
  return {
    constellation,
    tenantId: tenant.id,
    apiKey: tenant.apiKey,
    documents: mongo.db(documentsDatabase),
    async startBaseline(name) {
      const port = await pickFreePort();
      const child = opened.adopt(
        await startBaselineProcess(constellation, name, port),
        async (each) => void (await each.stop(5_000)),
      );
      await untilListening(port, child);
      return `http://127.0.0.1:${port}`;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function startBaselineProcess({ dev, stateDir }: ProcessConstellation, name: string, port: number): Promise<Child> {
  return startChild({
    command: process.execPath,
    args: [join(import.meta.dirname, `../baselines/${name}.ts`)],
    logFile: join(stateDir, `logs/${name}.log`),
    env: {
      ...process.env,
      MONGODB_URL: dev.mongodb,
      MONGODB_DATABASE: name.replaceAll("-", "_"),
      HTTP_PORT: String(port),
    },
  });
}

/** Resolves at any answer; a baseline without a route for `/` answers 404. */
async function untilListening(port: number, child: Child): Promise<void> {
  let ended = false;
  void child.exited.then(() => (ended = true));
  const deadline = AbortSignal.timeout(60_000);
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (answer) return;
    if (ended || deadline.aborted) throw new Error(`the baseline on port ${port} does not listen`);
    await pause(50);
  }
}
