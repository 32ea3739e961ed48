/** An endpoint that cannot be opened, or can be opened again. */
interface UnopenedChange {
  readonly tenantId: string;
  readonly endpointId: string;
  /** Absent when it can be opened again or was deleted. */
  readonly why?: string;
}

/** Keeps which endpoints could not be opened when this process last read them. */
export class UnopenedEndpoints {
  readonly #why = new Map<string, string>();
  #tell: (change: UnopenedChange) => void = () => {};

  get count(): number {
    return this.#why.size;
  }

  /** @param tell called once for each change */
  onChange(tell: (change: UnopenedChange) => void): void {
    this.#tell = tell;
  }

  /** Notes the result of reading an endpoint, or that it was deleted. */
  note(change: UnopenedChange): void {
    const { endpointId, why } = change;
    if (this.#why.get(endpointId) === why) return;
    if (why === undefined) this.#why.delete(endpointId);
    else this.#why.set(endpointId, why);
    this.#tell(change);
  }
}
