import { runMigrate } from "@vidimus/kit/service/migrate-command";
import { phrasesDatabase } from "./config.ts";
import { phrasesDatabaseVersion } from "./store/phrases-database-version.ts";

await runMigrate("phrases", phrasesDatabaseVersion, phrasesDatabase);
