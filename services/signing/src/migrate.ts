import { runMigrate } from "@vidimus/kit/service/migrate-command";
import { signingDatabase } from "./config.ts";
import { signingDatabaseVersion } from "./store/signing-database-version.ts";

await runMigrate("signing", signingDatabaseVersion, signingDatabase);
