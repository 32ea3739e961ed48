import { runMigrate } from "@vidimus/kit/mongo/migrate-command";
import { documentsDatabase } from "../src/config.ts";
import { inventedSchema } from "./invented-step.ts";

await runMigrate("documents", inventedSchema, documentsDatabase);
