import { type ContextValues, createContextKey, type Transport } from "@connectrpc/connect";

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

  async count<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running === 0) this.#rounds += 1;
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
    }
  }
}

/** Under this key a call's context values hold the counter of the request that makes the call. */
export const roundsKey = createContextKey<RoundCounter | undefined>(undefined);

export function countRounds(transport: Transport): Transport {
  const counted = <T>(values: ContextValues | undefined, call: () => Promise<T>) =>
    values?.get(roundsKey)?.count(call) ?? call();
  return {
    unary: (method, signal, timeoutMs, header, input, values) =>
      counted(values, () => transport.unary(method, signal, timeoutMs, header, input, values)),
    stream: (method, signal, timeoutMs, header, input, values) =>
      counted(values, () => transport.stream(method, signal, timeoutMs, header, input, values)),
  };
}
