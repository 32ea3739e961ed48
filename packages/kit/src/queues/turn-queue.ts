/**
 * A queue whose keys take turns: an item waits for earlier items of its key and one turn of each
 * other key.
 */
export class TurnQueue<Item> {
  /** In the order of their turns. A key without items has no entry. */
  readonly #lines = new Map<string, Item[]>();

  /** Appends an item to the items of its key. */
  push(key: string, item: Item): void {
    const line = this.#lines.get(key);
    if (line) line.push(item);
    else this.#lines.set(key, [item]);
  }

  /** Puts items in front of the other items of their key. The order of turns does not change. */
  putBack(key: string, items: readonly Item[]): void {
    if (items.length > 0) this.#lines.set(key, [...items, ...(this.#lines.get(key) ?? [])]);
  }

  /** Keys that have items, in the order of their turns. */
  keys(): MapIterator<string> {
    return this.#lines.keys();
  }

  /** Removes and returns the first `countOf(line)` items of a key, and ends the key's turn. */
  take(key: string, countOf: (line: readonly Item[]) => number = () => 1): Item[] {
    const line = this.#lines.get(key) ?? [];
    const taken = line.splice(0, countOf(line));
    this.#lines.delete(key);
    if (line.length > 0) this.#lines.set(key, line);
    return taken;
  }

  /** Removes one item at any position. */
  remove(key: string, item: Item): void {
    const line = this.#lines.get(key) ?? [];
    const at = line.indexOf(item);
    if (at >= 0) line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(key);
  }
}
