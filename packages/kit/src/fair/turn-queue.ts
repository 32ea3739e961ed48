/**
 * A queue whose keys take turns. In a key's turn its first item, or its first few, leave the queue.
 * Then the key goes behind all other keys.
 */
export class TurnQueue<Item> {
  /** The items of each key, in the order of the keys' turns. A key without items has no entry. */
  readonly #lines = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  countOf(key: string): number {
    return this.#lines.get(key)?.length ?? 0;
  }

  push(key: string, item: Item): void {
    const line = this.#lines.get(key);
    if (line) line.push(item);
    else this.#lines.set(key, [item]);
  }

  /** Puts an item in front of all others, whatever its key. */
  putBack(key: string, item: Item): void {
    const line = [item, ...(this.#lines.get(key) ?? [])];
    const others = [...this.#lines].filter(([other]) => other !== key);
    this.#lines.clear();
    for (const [each, items] of [[key, line] as const, ...others]) this.#lines.set(each, items);
  }

  keys(): MapIterator<string> {
    return this.#lines.keys();
  }

  /** The first item of the key whose turn it is; undefined when the queue is empty. */
  peek(): Item | undefined {
    return this.#lines.values().next().value?.[0];
  }

  /** Removes and returns the first item of the key whose turn it is, and ends its turn. */
  shift(): Item | undefined {
    const [key, line] = this.#lines.entries().next().value ?? [];
    if (key === undefined || !line) return undefined;
    // `shift` moves no items while the key has fewer than about 10,000, where `splice` would move
    // all later ones.
    const item = line.shift();
    this.#endTurn(key, line);
    return item;
  }

  /** Removes and returns the first `countOf(line)` items of a key, and ends the key's turn. */
  take(key: string, countOf: (line: readonly Item[]) => number = () => 1): Item[] {
    const line = this.#lines.get(key) ?? [];
    const taken = line.splice(0, countOf(line));
    this.#endTurn(key, line);
    return taken;
  }

  endTurn(key: string): void {
    const line = this.#lines.get(key);
    if (line) this.#endTurn(key, line);
  }

  #endTurn(key: string, line: Item[]): void {
    // Setting the key anew makes it the last one. A running iteration of `keys()` then visits it
    // once more.
    this.#lines.delete(key);
    if (line.length > 0) this.#lines.set(key, line);
  }

  /** Removes one item at any position. Returns false when it is not in the queue. */
  remove(key: string, item: Item): boolean {
    const line = this.#lines.get(key) ?? [];
    const at = line.indexOf(item);
    if (at >= 0) line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(key);
    return at >= 0;
  }
}
