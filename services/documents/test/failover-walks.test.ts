import { describeFailoverWalks } from "./failover-walks.ts";

// Twenty rounds: failover-walks.long.test.ts.
describeFailoverWalks(3);
