import type { SeededFault } from "./seeded-fault.ts";

export const documentsFaults: readonly SeededFault[] = [
  {
    name: "a feed passes over changes beyond its page",
    search: "after: hasMore ? position : later(position, examined)",
    replacement: "after: later(position, examined)",
    tests: ["unit read-changes"],
  },
  {
    name: "a reader of every type hears of no change",
    search: 'this.#type === "" || type === "" || this.#type === type',
    replacement: "this.#type === type",
    tests: ["unit change-signal"],
  },
  {
    name: "an author approves the own text under another spelling of the name",
    search: "return approver === author ?",
    replacement: "return actor === writer ?",
    tests: ["unit check-guards"],
  },
  {
    name: "a host stays taken when its site is withdrawn",
    search: "standing.filter(({ documentId }) => !changed.has(documentId))",
    replacement: "[...standing]",
    tests: ["unit site-claims"],
  },
  {
    name: "one tenant has all threads",
    search: "if (this.#busy.of(tenantId) < this.#share)",
    replacement: "if (this.#share > 0)",
    tests: ["unit job-threads"],
  },
  {
    name: "a page is older than the one that its reader has",
    search: "return isBehind(clock, request) ? clocks.confirm(tenantId) : clock;",
    replacement: "return clock;",
    tests: ["unit read-published-page"],
  },
  {
    name: "a transaction changes a document twice",
    search: "batch.size < this.#size && !batch.has(request.documentId) &&",
    replacement: "batch.size < this.#size &&",
    tests: ["unit transition-queue"],
  },
  {
    name: "a list ignores its filter",
    search: "const query = { type, filter, limit,",
    replacement: "const query = { type, filter: {}, limit,",
    tests: ["integration published-reads"],
  },
  {
    name: "synchronous work takes no turns",
    search: "turns.isEmpty && spentMs < sliceMs ? run(work) : wait(tenantId, work)",
    replacement: "run(work)",
    tests: ["unit work-turns"],
  },
];
