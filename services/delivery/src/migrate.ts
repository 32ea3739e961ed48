import { runMigrate } from "@vidimus/kit/mongo/migrate-command";
import { deliveryDatabase } from "./config.ts";
import { deliverySchema } from "./store/delivery-schema.ts";

await runMigrate("delivery", deliverySchema, deliveryDatabase);
