import { runMigrate } from "@vidimus/kit/mongo/migrate-command";
import { documentsDatabase } from "./config.ts";
import { documentsSchema } from "./store/documents-schema.ts";

await runMigrate("documents", documentsSchema, documentsDatabase);
