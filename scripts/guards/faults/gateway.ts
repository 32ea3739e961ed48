import type { SeededFault } from "./seeded-fault.ts";

export const gatewayFaults: readonly SeededFault[] = [
  {
    name: "a revoked key is believed",
    search: "return !tenantDisabled && revokedAt === undefined && !expired;",
    replacement: "return !tenantDisabled && !expired;",
    tests: ["unit key-verifier"],
  },
  {
    name: "a look-up that was under way is kept after an eviction",
    search: "if (evictions !== this.#evictions) return key;",
    replacement: "",
    tests: ["unit key-verifier"],
  },
  {
    name: "a write larger than the budget can never pass",
    search: "return Math.min(Math.ceil(points), this.rate.count - 1);",
    replacement: "return Math.ceil(points);",
    tests: ["unit write-budget"],
  },
  {
    name: "the slot of a request is not released",
    search: "this.#inUse -= 1;",
    replacement: "",
    tests: ["unit request-slots"],
  },
  {
    name: "bodies are read without turns",
    search: "body.pause(); this.#turns.wait(tenantId, body);",
    replacement: "",
    tests: ["unit read-turns"],
  },
  {
    name: "all requests begin in one turn of the event loop",
    search: "return this.#turns.isEmpty && now - this.#startedMs < turnMsMax && this.#ahead < turnWeightMax;",
    replacement: "return true;",
    tests: ["unit begin-turns"],
  },
  {
    name: "a shared wait ends with its first caller",
    search: "if (wait.waiters === 0) wait.end.abort(",
    replacement: "wait.end.abort(",
    tests: ["unit shared-waits"],
  },
  {
    name: "a kept page is sent without asking whether it is current",
    search: "if (known && (await stands({ ...question, tag: known.etag }))) return known;",
    replacement: "if (known) return known;",
    tests: ["unit published-pages"],
  },
  {
    name: "an answer to a reader that is too slow is not cut",
    search: 'if (!keepsUp) return "slow";',
    replacement: "",
    tests: ["unit drain-watch"],
  },
];
