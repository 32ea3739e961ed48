import type { EndpointKey } from "../domain/endpoint-key.ts";

/** Whether an endpoint's secret and headers can be decrypted. */
interface UnopenedChange extends EndpointKey {
  /** Why they cannot; absent when they can, or the endpoint was deleted. */
  readonly why?: string;
}

/** Keeps the endpoints that could not be decrypted when this process last read them. */
export class UnopenedEndpoints {
  readonly #unopened = new Map<string, UnopenedChange>();
  #tell: (change: UnopenedChange) => void = () => {};

  get count(): number {
    return this.#unopened.size;
  }

  get keys(): EndpointKey[] {
    return Array.from(this.#unopened.values(), ({ tenantId, endpointId }) => ({ tenantId, endpointId }));
  }

  onChange(tell: (change: UnopenedChange) => void): void {
    this.#tell = tell;
  }

  /** Notes the result of reading an endpoint, or that it was deleted. */
  note(change: UnopenedChange): void {
    const { endpointId, why } = change;
    if (this.#unopened.get(endpointId)?.why === why) return;
    if (why === undefined) this.#unopened.delete(endpointId);
    else this.#unopened.set(endpointId, change);
    this.#tell(change);
  }
}
