import { openMongo } from "@vidimus/kit/mongo/mongo";
import { startMeshServer } from "@vidimus/kit/rpc/mesh-server";
import type { TeamsRoute } from "@vidimus/kit/rpc/route";
import { startRpcServer } from "@vidimus/kit/rpc/server";
import { type RunningService, type ServiceContext, startService } from "@vidimus/kit/service/service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import { randomUUID } from "node:crypto";
import type { SigningConfig } from "./config.ts";
import { localWrappedCustody } from "./custody/local-wrapped.ts";
import { noCustody } from "./custody/no-custody.ts";
import { listRing } from "./domain/list-ring.ts";
import { RingWatch } from "./domain/ring-watch.ts";
import type { RingFault } from "./domain/sealed-ring.ts";
import { SealedRings } from "./domain/sealed-rings.ts";
import { reportKeyAge } from "./report-key-age.ts";
import { keyAdminRoutes } from "./rpc/key-admin/key-admin-routes.ts";
import { reportHead } from "./report-head.ts";
import { signingRoutes } from "./rpc/signing-routes.ts";
import { assertNoFirstLedger } from "./store/move-first-ledger.ts";
import { LedgerStore } from "./store/ledger-store.ts";
import { RingStore } from "./store/ring-store.ts";
import { SignerStore } from "./store/signer-store.ts";
import { watchRing } from "./watch-ring.ts";

/** A started signing service. */
export interface RunningSigning extends RunningService {
  /** Port of the admin door; absent while it is closed. */
  readonly grpcPort?: number;
}

/** Starts the signing service, the only process that holds private keys. */
export function startSigning(config: SigningConfig): Promise<RunningSigning> {
  return startService("signing", config, async (stack, process) => {
    const { log, metrics } = process;
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "signing" }));
    const custody = config.kek ? localWrappedCustody(config.kek) : noCustody;
    const rings = new SealedRings(new RingStore(mongo.db), custody);
    const ledger = new LedgerStore(mongo.db, () => rings.sealKey());
    const signers = new SignerStore(mongo.db, randomUUID());
    await Promise.all([ledger.ensureIndexes(), signers.ensureIndexes()]);
    await assertNoFirstLedger(mongo.db);
    const watch = new RingWatch({
      rings,
      signers,
      custody,
      lastRingRevision: async () => (await ledger.head())?.ringRevision,
      rules: config.ring,
      isOn: config.isOn,
      now,
      elapsedMs: () => performance.now(),
    });
    const reportFault = throttle(alarmEveryMs, (error: RingFault) => reportRingFault(log, error));
    stack.use(await watchRing(watch, { signers: config.isOn ? signers : undefined, log, reportFault }));
    stack.use(reportHead(ledger, log));
    const listedRing = listRing(rings, reportFault);
    const signingState = () => watch.signingState();
    const mesh = stack.use(
      await startMeshServer({
        ...process,
        routes: signingRoutes({ signingState, ledger, listedRing, now, log }),
        host: config.host,
        port: config.meshPort,
      }),
    );
    const adminRoutes = keyAdminRoutes({ rings, ledger, custody, rules: config.ring, log, now });
    const admin = await openAdminDoor(stack, config, adminRoutes, process);
    reportKeyAge(metrics, () => watch.activeSince());
    return { meshPort: mesh.port, ...admin, check: mongo.ping };
  });
}

/** Opens the admin door, if it is configured. */
async function openAdminDoor(
  stack: AsyncDisposableStack,
  { host, adminPort }: SigningConfig,
  routes: readonly TeamsRoute[],
  process: ServiceContext,
): Promise<{ grpcPort?: number }> {
  if (adminPort === undefined) return {};
  const door = stack.use(await startRpcServer({ ...process, host, port: adminPort, routes }));
  return { grpcPort: door.port };
}

/** A ring that does not verify is found at every look; one line in ten seconds is enough. */
const alarmEveryMs = 10_000;

function reportRingFault(log: Pick<Logger, "error">, error: RingFault): void {
  log.error({ alarm: "key_ring", err: error }, "the key ring does not verify: nothing is signed");
}

function now(): Date {
  return new Date();
}
