import { DomainError } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { startMeshServer } from "@vidimus/kit/rpc/mesh-server";
import { type RunningService, startService } from "@vidimus/kit/service/service";
import type { SigningConfig } from "./config.ts";
import { localWrappedCustody } from "./custody/local-wrapped.ts";
import { turnSigningOff, turnSigningOn } from "./domain/switch-signing.ts";
import type { SigningKey } from "./domain/sign-digests.ts";
import { signingRoutes } from "./rpc/signing-routes.ts";
import { LedgerStore } from "./store/ledger-store.ts";
import { RingStore } from "./store/ring-store.ts";

/** Starts the signing service, the only process that holds private keys. */
export function startSigning(config: SigningConfig): Promise<RunningService> {
  return startService("signing", config, async (stack, { log, metrics, readiness, certificate }) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "signing" }));
    const ledger = new LedgerStore(mongo.db);
    const rings = new RingStore(mongo.db);
    await ledger.ensureIndexes();
    const activeKey = await switchSigning(config, rings, log);
    const mesh = stack.use(
      await startMeshServer({
        routes: signingRoutes({ activeKey, ledger, rings, now, log }),
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

/**
 * Turns signing on or off as configured. Returns a function that gives the key that signs, or
 * throws while it is off.
 */
async function switchSigning({ kek }: SigningConfig, rings: RingStore, log: Logger): Promise<() => SigningKey> {
  if (!kek) {
    await turnSigningOff(rings, now);
    log.info("signing is off");
    return () => {
      throw new DomainError("failed_precondition", "signing is off");
    };
  }
  const { ring, key } = await turnSigningOn(rings, localWrappedCustody(kek), now);
  log.info({ keyId: key.keyId, ringRevision: ring.revision }, "signing is on");
  return () => key;
}

function now(): Date {
  return new Date();
}
