import { runMigrate } from "@vidimus/kit/service/migrate-command";
import { accessDatabase } from "./config.ts";
import { accessDatabaseVersion } from "./store/access-database.ts";

await runMigrate("gateway", accessDatabaseVersion, accessDatabase);
