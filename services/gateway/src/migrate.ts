import { runMigrate } from "@vidimus/kit/mongo/migrate-command";
import { accessDatabase } from "./config.ts";
import { accessSchema } from "./store/access-database.ts";

await runMigrate("gateway", accessSchema, accessDatabase);
