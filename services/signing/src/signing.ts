import { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ensureDatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { startMeshServer } from "@vidimus/kit/rpc/doors/mesh/mesh-server";
import { startTeamsServer } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { type RunningService, type ServiceContext, startService } from "@vidimus/kit/service/service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import { randomUUID } from "node:crypto";
import type { SigningConfig } from "./config.ts";
import { localWrappedCustody } from "./custody/local-wrapped.ts";
import type { KeyCustody } from "./domain/key-custody.ts";
import { documentsSignatures } from "./documents-signatures.ts";
import type { HeldSignatures } from "./domain/compare-signatures.ts";
import { CheckedClock } from "./domain/checked-clock.ts";
import { RingWatch } from "./domain/ring-watch.ts";
import type { RingFault } from "./domain/sealed-ring.ts";
import { SealedRings } from "./domain/sealed-rings.ts";
import { stateLists } from "./domain/state-lists.ts";
import { reportClock } from "./report-clock.ts";
import { reportDelegation } from "./report-delegation.ts";
import { reportKeyAge } from "./report-key-age.ts";
import { reportRing } from "./report-ring.ts";
import { type KeyAdminDeps, keyAdminRoutes } from "./rpc/key-admin/key-admin-routes.ts";
import { reportHead } from "./report-head.ts";
import { signingRoutes } from "./rpc/signing-routes.ts";
import { LedgerStore } from "./store/ledger-store.ts";
import { RingStore } from "./store/ring-store.ts";
import { SignerStore } from "./store/signer-store.ts";
import { signingDatabaseVersion } from "./store/signing-database-version.ts";
import { watchRing } from "./watch-ring.ts";

interface RunningSigning extends RunningService {
  /** Port of the admin door; absent while it is closed. */
  readonly grpcPort?: number;
}

/** @param custody by default of keys that are in the database, wrapped by the KEK */
export function startSigning(config: SigningConfig, custody = custodyOf(config)): Promise<RunningSigning> {
  return startService("signing", config, async (stack, process) => {
    const { log, metrics } = process;
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "signing" }));
    await ensureDatabaseVersion(mongo, signingDatabaseVersion, config.migrate);
    const audit = await AuditLog.open(mongo, log);
    const rings = new SealedRings(new RingStore(mongo.db, audit), custody);
    const ledger = new LedgerStore(mongo.db, () => rings.sealKey());
    const signers = new SignerStore(mongo.db, randomUUID(), custody.kekIds);
    const generate = () => rings.generate();
    const elapsedMs = () => performance.now();
    const clock = new CheckedClock({ now: () => new Date(), elapsedMs });
    const now = () => clock.now();
    const watch = new RingWatch({
      rings,
      generate,
      signers,
      custody,
      lastRingRevision: async () => (await ledger.head())?.ringRevision,
      rules: config.ring,
      isOn: config.isOn,
      clock,
      elapsedMs,
    });
    const reportFault = throttle(alarmEveryMs, (error: RingFault) => reportRingFault(log, error));
    const signing = config.isOn ? signers : undefined;
    stack.use(await watchRing(watch, { signers: signing, clock, log, reportFault }));
    stack.use(reportHead(ledger, log));
    const statedList = stateLists({ rings, custody, now, reportFault });
    const signingState = () => watch.signingState();
    const mesh = stack.use(
      await startMeshServer({
        ...process,
        routes: signingRoutes({ signingState, ledger, statedList, attestationKeys: config.attestationKeys, now, log }),
        host: config.host,
        port: config.meshPort,
      }),
    );
    const adminDeps = { audit, rings, ledger, custody, signers, generate, rules: config.ring, log, now };
    const admin = await openAdminDoor(stack, config, adminDeps, process);
    reportState(metrics, watch, clock);
    const check = async () => {
      await mongo.ping();
      if (watch.fault) throw watch.fault;
      if (config.isOn) clock.require();
    };
    return { meshPort: mesh.port, ...admin, check };
  });
}

function custodyOf({ kek, oldKek }: SigningConfig): KeyCustody {
  return localWrappedCustody(kek, oldKek);
}

function openHeldSignatures(
  stack: AsyncDisposableStack,
  { documentsTarget: target }: SigningConfig,
  { credentialsFor }: ServiceContext,
): HeldSignatures | undefined {
  if (target === undefined) return undefined;
  const credentials = credentialsFor("documents");
  const client = stack.use(openRpcClient(SignatureAuditService, { target, credentials, defaultTimeoutMs: 60_000 }));
  return documentsSignatures(client);
}

function reportState(metrics: Pick<Metrics, "registry">, watch: RingWatch, clock: CheckedClock): void {
  reportKeyAge(metrics, () => watch.activeSince());
  reportDelegation(metrics, () => watch.delegation());
  reportRing(metrics, () => watch.fault === undefined);
  reportClock(metrics, clock);
}

async function openAdminDoor(
  stack: AsyncDisposableStack,
  config: SigningConfig,
  deps: Omit<KeyAdminDeps, "held">,
  process: ServiceContext,
): Promise<{ grpcPort?: number }> {
  const { host, adminPort: port } = config;
  if (port === undefined) return {};
  const routes = keyAdminRoutes({ ...deps, held: openHeldSignatures(stack, config, process) });
  const door = stack.use(await startTeamsServer({ ...process, host, port, routes }));
  return { grpcPort: door.port };
}

/** While the ring cannot be used, every look finds the same fault; one in ten seconds is logged. */
const alarmEveryMs = 10_000;

function reportRingFault(log: Pick<Logger, "error">, error: RingFault): void {
  log.error({ alarm: "key_ring", err: error }, "the key ring cannot be used: nothing is signed");
}
