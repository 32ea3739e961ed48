import { createContextKey, type Transport } from "@connectrpc/connect";

/**
 * Counts the rounds of calls to services that a request takes. Calls at the same time are one
 * round. Each round delays the answer.
 */
export class RoundCounter {
  #running = 0;
  #rounds = 0;

  get rounds(): number {
    return this.#rounds;
  }

  begin(): void {
    if (this.#running === 0) this.#rounds += 1;
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
  }
}

/** Under this key a call's context values hold the counter of the request that makes the call. */
export const roundsKey = createContextKey<RoundCounter | undefined>(undefined);

/** A transport that counts its calls in the `RoundCounter` of their context. */
export function countRounds(transport: Transport): Transport {
  return {
    unary: async (method, signal, timeoutMs, header, input, contextValues) => {
      const rounds = contextValues?.get(roundsKey);
      rounds?.begin();
      try {
        return await transport.unary(method, signal, timeoutMs, header, input, contextValues);
      } finally {
        rounds?.end();
      }
    },
    stream: async (method, signal, timeoutMs, header, input, contextValues) => {
      const rounds = contextValues?.get(roundsKey);
      rounds?.begin();
      try {
        return await transport.stream(method, signal, timeoutMs, header, input, contextValues);
      } finally {
        rounds?.end();
      }
    },
  };
}
