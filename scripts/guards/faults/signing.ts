import type { SeededFault } from "./seeded-fault.ts";

export const signingFaults: readonly SeededFault[] = [
  {
    name: "a signer whose clock is far off signs",
    search: "if (!this.isOff) return; const seconds",
    replacement: "if (this) return; const seconds",
    tests: ["unit checked-clock"],
  },
  {
    name: "a snapshot is signed again with another statement",
    search: "if (statementOf(digest, { keyId, signedAt }) !== entry.statement) return",
    replacement: "if (statementOf(digest, { keyId, signedAt }) === undefined) return",
    tests: ["integration sign-snapshots"],
  },
  {
    name: "two keys of a ring are active",
    search: "if (active.length > 1) throw",
    replacement: "if (active.length > 2) throw",
    tests: ["unit key-ring"],
  },
];
