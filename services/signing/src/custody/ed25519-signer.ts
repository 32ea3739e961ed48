import { type KeyObject, sign } from "node:crypto";
import type { Signer } from "../domain/key-custody.ts";

/**
 * Signs with a private key in memory, on the thread pool, because a batch would block the event
 * loop for milliseconds.
 */
export function ed25519Signer(privateKey: KeyObject): Signer {
  return {
    sign: (message) =>
      new Promise((resolve, reject) => {
        sign(null, message, privateKey, (error, signature) => (error ? reject(error) : resolve(signature)));
      }),
  };
}
