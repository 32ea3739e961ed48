/**
 * What an operator runs on a database that was restored from a backup, before any service starts
 * again: docs/operations.md, "Restore".
 *
 * - `highest`: prints the highest sequence of any document that was signed
 * - `adopt`: adds to the ledger the signatures that documents' restore command printed, from stdin
 * - `lift`: gives the key ring the Unix time as its revision
 */
import { ConfigError, EnvReader } from "@vidimus/kit/env";
import { readJsonLines } from "@vidimus/kit/json-lines";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ensureDatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { runToEnd } from "@vidimus/kit/service/process";
import { readRestoreConfig } from "./config.ts";
import { localWrappedCustody } from "./custody/local-wrapped.ts";
import { adoptSignatures, toHeldSignature } from "./domain/adopt-signatures.ts";
import { SealedRings } from "./domain/sealed-rings.ts";
import { LedgerStore } from "./store/ledger-store.ts";
import { RingStore } from "./store/ring-store.ts";
import { signingDatabaseVersion } from "./store/signing-database-version.ts";

await runToEnd(async () => {
  const { mongoUrl, database, kek } = readRestoreConfig(new EnvReader(process.env));
  await using mongo = await openMongo({ url: mongoUrl, database, appName: "signing-restore" });
  const rings = new SealedRings(new RingStore(mongo.db), localWrappedCustody(kek));
  const ledger = new LedgerStore(mongo.db, () => rings.sealKey());
  switch (process.argv.slice(2).join(" ")) {
    case "highest":
      process.stdout.write(`${await ledger.highestSequence()}\n`);
      break;
    case "adopt": {
      const ring = await rings.read();
      if (!ring) throw noRing(database);
      await ensureDatabaseVersion(mongo, signingDatabaseVersion, "prepare");
      const { adopted, known, refused } = await adoptSignatures({ ledger, ring }, held());
      for (const { snapshotKey, reason } of refused) process.stderr.write(`${snapshotKey}: ${reason}\n`);
      process.stdout.write(`database ${database}: ${adopted} signatures adopted, ${known} were there\n`);
      if (refused.length > 0) throw new Error(`${refused.length} signatures were not adopted`);
      break;
    }
    case "lift": {
      await ensureDatabaseVersion(mongo, signingDatabaseVersion, "prepare");
      // The Unix time is above all revisions, because each change adds 1 and there is less than one
      // change a second.
      const lifted = await rings.lift(Math.floor(Date.now() / 1000));
      if (!lifted) throw noRing(database);
      process.stdout.write(`database ${database}: the key ring is at revision ${lifted.revision}\n`);
      break;
    }
    default:
      throw new ConfigError("one of: highest; adopt; lift");
  }
});

function noRing(database: string): ConfigError {
  return new ConfigError(`database ${database} has no key ring: restore signing first`);
}

async function* held() {
  for await (const line of readJsonLines(process.stdin)) yield toHeldSignature(line);
}
