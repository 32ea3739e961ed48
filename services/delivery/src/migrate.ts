import { runMigrate } from "@vidimus/kit/service/migrate-command";
import { deliveryDatabase } from "./config.ts";
import { deliveryDatabaseVersion } from "./store/delivery-database-version.ts";

await runMigrate("delivery", deliveryDatabaseVersion, deliveryDatabase);
