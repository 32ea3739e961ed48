import { deliveryFaults } from "./faults/delivery.ts";
import { documentsFaults } from "./faults/documents.ts";
import { gatewayFaults } from "./faults/gateway.ts";
import { kitFaults } from "./faults/kit.ts";
import { phrasesFaults } from "./faults/phrases.ts";
import { signingFaults } from "./faults/signing.ts";
import type { SeededFault } from "./faults/seeded-fault.ts";

export const seededFaults: readonly SeededFault[] = [
  ...kitFaults,
  ...gatewayFaults,
  ...documentsFaults,
  ...phrasesFaults,
  ...deliveryFaults,
  ...signingFaults,
];
