export interface PoolSize {
  /** The pool's label in metrics, for example `body_memory`. */
  readonly label: string;
  /** The pool's name in messages, for example "memory for request bodies". */
  readonly name: string;
  readonly capacity: number;
  /** Most that one tenant may hold; half of the capacity by default. */
  readonly share?: number;
  /** Unit of `capacity` and `share`; messages show bytes as MiB. */
  readonly unit: "requests" | "bytes";
}

export function shareOf({ capacity, share = Math.floor(capacity / 2) }: PoolSize): number {
  return share;
}
