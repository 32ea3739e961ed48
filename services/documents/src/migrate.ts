import { runMigrate } from "@vidimus/kit/service/migrate-command";
import { documentsDatabase } from "./config.ts";
import { documentsDatabaseVersion } from "./store/documents-database-version.ts";

await runMigrate("documents", documentsDatabaseVersion, documentsDatabase);
