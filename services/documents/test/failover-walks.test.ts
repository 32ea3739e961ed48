import { describeFailoverWalks } from "./support/failover-walks.ts";

// Three rounds; failover-walks.long.test.ts makes twenty.
describeFailoverWalks(3);
