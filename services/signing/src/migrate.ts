import { runMigrate } from "@vidimus/kit/mongo/migrate-command";
import { signingDatabase } from "./config.ts";
import { signingSchema } from "./store/signing-schema.ts";

await runMigrate("signing", signingSchema, signingDatabase);
