import type { DatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { countIndexes } from "./delivery-count-store.ts";
import { deliveryIndexes } from "./delivery-indexes.ts";
import { logIndexes } from "./delivery-log-store.ts";
import { EndpointStateStore } from "./endpoint-state-store.ts";
import { EndpointStore } from "./endpoint-store.ts";
import { ReplayStore } from "./replay-store.ts";
import { ReplicaStore } from "./replica-store.ts";
import { ResendStore } from "./resend-store.ts";

export const deliveryDatabaseVersion: DatabaseVersion = {
  base: 3,
  steps: [],
  indexes: {
    ...EndpointStore.indexes,
    ...EndpointStateStore.indexes,
    ...ReplicaStore.indexes,
    ...ReplayStore.indexes,
    ...ResendStore.indexes,
    deliveries: { ...deliveryIndexes, ...logIndexes, ...countIndexes },
  },
};
