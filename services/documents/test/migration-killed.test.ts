import { describeKilledMigration } from "./migration-killed.ts";

// Ten kills and 100,000 documents: migration-killed.long.test.ts.
describeKilledMigration(3_000, 3);
