import { describeKilledMigration } from "./migration-killed.ts";

describeKilledMigration(100_000, 10);
