import type { SeededFault } from "./seeded-fault.ts";

export const kitFaults: readonly SeededFault[] = [
  {
    name: "a key that had its turn stays first in line",
    search: "this.#lines.delete(key); if (line.length > 0) this.#lines.set(key, line);",
    replacement: "if (line.length === 0) this.#lines.delete(key);",
    tests: ["unit batcher"],
  },
  {
    name: "a batch that ends does not release its slot",
    search: "if (isLate) this.#late -= 1; else this.#inTime -= 1;",
    replacement: "if (isLate) this.#late -= 1;",
    tests: ["unit batcher"],
  },
  {
    name: "a batch takes more bytes than it may",
    search: "if (batch.length > 0 && bytes > bytesMax) break;",
    replacement: "",
    tests: ["unit batcher"],
  },
  {
    name: "a shared call does not wait for the one before it",
    search: "await lane.turn; while",
    replacement: "while",
    tests: ["unit share-calls"],
  },
  {
    name: "an older trust list is taken",
    search: "this.#isOlder = stated.revision < newest;",
    replacement: "this.#isOlder = false;",
    tests: ["integration kept-trust-list"],
  },
  {
    name: "every service may call every method of a mesh door",
    search: "allowed.get(method)?.has(who)",
    replacement: "allowed.has(method)",
    tests: ["unit known-callers"],
  },
  {
    name: "a grant names any tenant",
    search: "if (grant && !mayNameTenant(grant, tenantId)) {",
    replacement: "if (grant && !mayNameTenant(grant, tenantId) && !grant) {",
    tests: ["unit known-callers"],
  },
  {
    name: "a grant lets its holder speak for any role",
    search: 'if (role !== "" && !grant.roles.has(role))',
    replacement: "if (!grant)",
    tests: ["unit known-callers"],
  },
  {
    name: "a disabled tenant is written",
    search: 'if (tenant.disabled && effect === "write") {',
    replacement: "if (!tenant) {",
    tests: ["unit known-tenants"],
  },
  {
    name: "a call to a silent server gets no second try",
    search: "if (replicas.hasDetour(performance.now())) start();",
    replacement: "",
    tests: ["unit second-try"],
  },
  {
    name: "a lost answer looks like a bug of the server",
    search: "return isLost ? { ...status, code: Status.UNAVAILABLE } : status;",
    replacement: "return status;",
    tests: ["unit lost-answer"],
  },
  {
    name: "a connection that drains is pinged",
    search: "!session.closed && canSendPing.call(transport)",
    replacement: "canSendPing.call(transport)",
    tests: ["unit transport-connection"],
  },
];
