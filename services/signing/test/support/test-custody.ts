import { createSecretKey } from "node:crypto";
import { localWrappedCustody } from "../../src/custody/local-wrapped.ts";
import type { KeyCustody } from "../../src/domain/key-custody.ts";
import { remoteCustody } from "./remote-custody.ts";

const isRemote = process.env["VIDIMUS_TEST_CUSTODY"] === "remote";

/**
 * The custody of the signing processes of a test file: keys that the database keeps, wrapped by the
 * KEK of `kekFiles().make(1)`; or a KMS, when VIDIMUS_TEST_CUSTODY is `remote`.
 */
export const testCustody: KeyCustody = isRemote
  ? remoteCustody()
  : localWrappedCustody(createSecretKey(Buffer.alloc(32, 1)));

/** The custody to start a signing process with; undefined: what its settings say. */
export const givenCustody: KeyCustody | undefined = isRemote ? testCustody : undefined;
