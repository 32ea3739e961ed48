import { describeFailoverWalks } from "./support/failover-walks.ts";

describeFailoverWalks(20);
