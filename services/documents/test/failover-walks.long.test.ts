import { describeFailoverWalks } from "./failover-walks.ts";

describeFailoverWalks(20);
