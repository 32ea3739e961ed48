import { runMigrate } from "@vidimus/kit/service/migrate-command";
import { consoleDatabase } from "./config.ts";
import { consoleDatabaseVersion } from "./store/console-database-version.ts";

await runMigrate("console", consoleDatabaseVersion, consoleDatabase);
