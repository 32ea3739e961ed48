import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { DomainError } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/log";
import { openMongo } from "@vidimus/kit/mongo";
import { route, startRpcServer } from "@vidimus/kit/rpc/server";
import { type RunningService, startService } from "@vidimus/kit/service";
import type { SigningConfig } from "./config.ts";
import { localWrappedCustody } from "./custody/local-wrapped.ts";
import { turnSigningOff, turnSigningOn } from "./domain/settle-ring.ts";
import type { SigningKey } from "./domain/sign-snapshots.ts";
import { listKeysRpc } from "./rpc/list-keys.ts";
import { signSnapshotsRpc } from "./rpc/sign-snapshots.ts";
import { LedgerStore } from "./store/ledger-store.ts";
import { RingStore } from "./store/ring-store.ts";

/** Starts the signing service. It alone holds private keys; it serves `SigningService` and `TrustListService`. */
export function startSigning(config: SigningConfig): Promise<RunningService> {
  return startService("signing", config, async (stack, { log, metrics, readiness }) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "signing" }));
    const ledger = new LedgerStore(mongo.db);
    const rings = new RingStore(mongo.db);
    await ledger.ensureIndexes();
    const activeKey = await settleSigning(config, rings, log);
    const rpc = stack.use(
      await startRpcServer({
        routes: [
          route(SigningService, { signSnapshots: signSnapshotsRpc({ activeKey, ledger, now, log }) }),
          route(TrustListService, { listKeys: listKeysRpc({ rings }) }),
        ],
        host: config.host,
        port: config.grpcPort,
        readiness,
        log,
        metrics,
      }),
    );
    return { grpcPort: rpc.port, check: mongo.ping };
  });
}

/** Brings the ring into the state the switch asks for, and answers who signs. */
async function settleSigning({ kek }: SigningConfig, rings: RingStore, log: Logger): Promise<() => SigningKey> {
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
