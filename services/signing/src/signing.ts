import { openMongo } from "@vidimus/kit/mongo/mongo";
import { startMeshServer } from "@vidimus/kit/rpc/mesh-server";
import { type RunningService, startService } from "@vidimus/kit/service/service";
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
import { reportHead } from "./report-head.ts";
import { signingRoutes } from "./rpc/signing-routes.ts";
import { assertNoFirstLedger } from "./store/move-first-ledger.ts";
import { LedgerStore } from "./store/ledger-store.ts";
import { RingStore } from "./store/ring-store.ts";
import { SignerStore } from "./store/signer-store.ts";
import { watchRing } from "./watch-ring.ts";

/** Starts the signing service, the only process that holds private keys. */
export function startSigning(config: SigningConfig): Promise<RunningService> {
  return startService("signing", config, async (stack, { log, metrics, readiness, certificate }) => {
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
        routes: signingRoutes({ signingState, ledger, listedRing, now, log }),
        host: config.host,
        port: config.meshPort,
        readiness,
        log,
        metrics,
        certificate,
      }),
    );
    return { meshPort: mesh.port, check: mongo.ping };
  });
}

/** A ring that does not verify is found at every look; one line in ten seconds is enough. */
const alarmEveryMs = 10_000;

function reportRingFault(log: Pick<Logger, "error">, error: RingFault): void {
  log.error({ alarm: "key_ring", err: error }, "the key ring does not verify: nothing is signed");
}

function now(): Date {
  return new Date();
}
