import { runMigrate } from "@vidimus/kit/service/migrate-command";
import { documentsDatabase } from "../../src/config.ts";
import { inventedDatabaseVersion } from "./invented-step.ts";

await runMigrate("documents", inventedDatabaseVersion, documentsDatabase);
