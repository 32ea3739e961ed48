import type { SeededFault } from "./seeded-fault.ts";

export const deliveryFaults: readonly SeededFault[] = [
  {
    name: "a lease is renewed that another process has",
    search: 'const filter = { _id: deliveryId, generation, "lease.holder": this.#holder };',
    replacement: "const filter = { _id: deliveryId };",
    tests: ["integration lost-lease"],
  },
  {
    name: "a lease is released that another process has",
    search: 'filter: { _id, generation, "lease.holder": this.#holder }',
    replacement: "filter: { _id }",
    tests: ["integration lost-lease"],
  },
  {
    name: "an older snapshot is sent after a newer one was accepted",
    search: 'return { ...step, olderEnd: "superseded" };',
    replacement: "return step;",
    tests: ["unit advance-lane", "unit advance-lane.property"],
  },
  {
    name: "the body of a delivery is not released",
    search: "this.#held.add(delivery.tenantId, -body.bytes);",
    replacement: "",
    tests: ["unit body-budget"],
  },
  {
    name: "the capacity of an endpoint is not released",
    search: "for (const [queue, share] of granted) queue.unreserve(share);",
    replacement: "",
    tests: ["unit lane-reservations"],
  },
  {
    name: "the reconciler takes in what is in hand",
    search: "references.filter((reference) => !ingest.isInHand(reference))",
    replacement: "references",
    tests: ["unit reconciler"],
  },
];
