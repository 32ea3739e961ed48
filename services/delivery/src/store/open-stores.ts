import { uuidv7 } from "@vidimus/kit/ids";
import type { Db } from "mongodb";
import type { KeyObject } from "node:crypto";
import { deliveryRows } from "./delivery-indexes.ts";
import { DeliveryCountStore } from "./delivery-count-store.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { DeliveryLogStore } from "./delivery-log-store.ts";
import { EndpointHealthStore } from "./endpoint-health-store.ts";
import { EndpointStateStore } from "./endpoint-state-store.ts";
import { EndpointStore } from "./endpoint-store.ts";
import { LaneEndings } from "./lane-endings.ts";
import { LaneJournal } from "./lane-journal.ts";
import { LaneStore } from "./lane-store.ts";
import { ReplayStore } from "./replay-store.ts";
import { ReplicaStore } from "./replica-store.ts";
import { ResendStore } from "./resend-store.ts";
import { ResentRowStore } from "./resent-row-store.ts";
import { ResigningStore } from "./resigning-store.ts";
import { createSecretBox, kekChangeOf } from "./secret-box.ts";
import { TrustListStore } from "./trust-list-store.ts";

export type Stores = ReturnType<typeof openStores>;

/** `otherKek` is the KEK that `kek` replaces; present during the replacement. */
export function openStores(db: Db, { kek, otherKek }: { readonly kek: KeyObject; readonly otherKek?: KeyObject }) {
  /** Id of this process in `replicas` and in its leases. */
  const replica = uuidv7();
  const kekChange = kekChangeOf(kek, otherKek);
  const endpoints = new EndpointStore(db, createSecretBox(kek, otherKek, kekChange));
  const rows = deliveryRows(db);
  const deliveries = new DeliveryStore(rows, replica);
  const states = new EndpointStateStore(db);
  const replicas = new ReplicaStore(
    db,
    [kekChange.newestId, kekChange.otherId].filter((id) => id !== undefined),
  );
  const deliveryLog = new DeliveryLogStore(rows);
  const deliveryCounts = new DeliveryCountStore(rows);
  const replays = new ReplayStore(db);
  const resends = new ResendStore(db);
  const lanes = new LaneStore(rows, replica);
  const laneEndings = new LaneEndings(rows);
  const journal = new LaneJournal(rows, replica);
  const sending = { endpoints, deliveries, deliveryLog, lanes, laneEndings, journal, states, replicas, replays };
  const resentRows = new ResentRowStore(rows);
  const [trustLists, resigning] = [new TrustListStore(db), new ResigningStore(db)];
  const health = new EndpointHealthStore(rows, states);
  return { health, replica, kekChange, deliveryCounts, ...sending, trustLists, resigning, resends, resentRows };
}
