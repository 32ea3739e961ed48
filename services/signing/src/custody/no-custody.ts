import { ConfigError } from "@vidimus/kit/env";
import type { KeyCustody } from "../domain/key-custody.ts";

const refuse = async (): Promise<never> => {
  throw new ConfigError("there is a key ring: SIGNING_KEK_FILE is required to verify it, also while SIGNING is off");
};

/** Custody of a process without a KEK: signing is off, and there must be no ring. */
export const noCustody: KeyCustody = {
  kekIds: [],
  generate: refuse,
  open: refuse,
  generateSealKey: refuse,
  openSealKey: refuse,
  rewrap: refuse,
  rewrapSealKey: refuse,
};
