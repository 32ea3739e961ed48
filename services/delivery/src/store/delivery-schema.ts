import type { Schema } from "@vidimus/kit/mongo/schema";
import { deliveryIndexes } from "./delivery-indexes.ts";
import { logIndexes } from "./delivery-log-store.ts";
import { EndpointStateStore } from "./endpoint-state-store.ts";
import { EndpointStore } from "./endpoint-store.ts";
import { ReplayStore } from "./replay-store.ts";
import { ReplicaStore } from "./replica-store.ts";
import { ResendStore } from "./resend-store.ts";

/** How delivery keeps its rows. */
export const deliverySchema: Schema = {
  base: 3,
  steps: [],
  indexes: {
    ...EndpointStore.indexes,
    ...EndpointStateStore.indexes,
    ...ReplicaStore.indexes,
    ...ReplayStore.indexes,
    ...ResendStore.indexes,
    deliveries: { ...deliveryIndexes, ...logIndexes },
  },
};
