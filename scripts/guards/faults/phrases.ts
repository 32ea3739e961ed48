import type { SeededFault } from "./seeded-fault.ts";

export const phrasesFaults: readonly SeededFault[] = [
  {
    name: "a tenant runs all exports",
    search: "this.#inUse < this.#options.capacity && (mayExceed || !this.#holdsShare(tenantId));",
    replacement: "this.#inUse < this.#options.capacity;",
    tests: ["unit export-slots"],
  },
  {
    name: "a crowd of exports never rests",
    search: "Math.max(0, Math.min(this.#slots.waitingOf(tenantId) - 1, restFactorMax))",
    replacement: "0",
    tests: ["unit export-turns"],
  },
  {
    name: "a tenant whose import has ended begins the next one before others",
    search: "if (this.#options.turnEndsLate) this.#waiting.endTurn(tenantId);",
    replacement: "",
    tests: ["unit import-queue"],
  },
  {
    name: "a slot goes to a tenant that holds its share",
    search: "this.#waiting.keys().find((tenantId) => !this.#holdsShare(tenantId))",
    replacement: "this.#waiting.keys().next().value",
    tests: ["unit request-slots"],
  },
  {
    name: "an import does not release its bytes",
    search: "this.#bytes.add(tenantId, -bytes);",
    replacement: "",
    tests: ["unit import-queue"],
  },
  {
    name: "the id of one phrase takes the key of another",
    search: "if (idOwner && keyOwner && idOwner.id !== keyOwner.id) {",
    replacement: "if (idOwner && !keyOwner && !idOwner) {",
    tests: ["unit plan-upserts"],
  },
];
