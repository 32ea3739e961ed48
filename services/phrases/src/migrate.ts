import { runMigrate } from "@vidimus/kit/mongo/migrate-command";
import { phrasesDatabase } from "./config.ts";
import { phrasesSchema } from "./store/phrases-schema.ts";

await runMigrate("phrases", phrasesSchema, phrasesDatabase);
