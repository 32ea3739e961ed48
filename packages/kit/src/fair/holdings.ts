export class Holdings {
  readonly #byKey = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** `amount` may be negative. */
  add(key: string, amount: number): void {
    const held = this.of(key) + amount;
    if (held === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, held);
    this.#total += amount;
  }
}
