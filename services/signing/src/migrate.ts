import { EnvReader } from "@vidimus/kit/env";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { runToEnd } from "@vidimus/kit/service/process";
import { readMigrationConfig } from "./config.ts";
import { localWrappedCustody } from "./custody/local-wrapped.ts";
import { SealedRings } from "./domain/sealed-rings.ts";
import { LedgerStore } from "./store/ledger-store.ts";
import { moveFirstLedger } from "./store/move-first-ledger.ts";
import { RingStore } from "./store/ring-store.ts";
import { sealFirstRing } from "./store/seal-first-ring.ts";

await runToEnd(async () => {
  const env = new EnvReader(process.env);
  const { mongoUrl, database, kek } = readMigrationConfig(env);
  await using mongo = await openMongo({ url: mongoUrl, database, appName: "signing-migrate" });
  const custody = localWrappedCustody(kek);
  const sealed = await sealFirstRing(mongo.db, custody);
  const rings = new SealedRings(new RingStore(mongo.db), custody);
  const ring = await rings.read();
  const ledger = new LedgerStore(mongo.db, () => rings.sealKey());
  await ledger.ensureIndexes();
  const moved = ring ? await moveFirstLedger(mongo.db, ledger, ring) : 0;
  const seal = sealed === undefined ? "no ring without a seal" : `the key ring is sealed, revision ${sealed}`;
  process.stdout.write(`database ${database}: ${seal}; ${moved} signatures moved\n`);
});
