import { runMigrate } from "@vidimus/kit/mongo/migrate-command";
import { consoleDatabase } from "./config.ts";
import { consoleSchema } from "./store/console-schema.ts";

await runMigrate("console", consoleSchema, consoleDatabase);
