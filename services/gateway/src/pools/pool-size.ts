/** The size and the names of a pool that all tenants share. */
export interface PoolSize {
  /** The pool's label in metrics, for example `body_memory`. */
  readonly label: string;
  /** The pool's name in messages, for example "memory for request bodies". */
  readonly name: string;
  /** The whole pool, in requests or bytes. */
  readonly capacity: number;
  /** Most that one tenant may hold, in the pool's unit; half of the pool by default. */
  readonly share?: number;
  /** Unit of the amounts; messages show bytes as MiB. */
  readonly unit: "requests" | "bytes";
}

/** Most that one tenant may hold of a pool, in the pool's unit. */
export function shareOf({ capacity, share = Math.floor(capacity / 2) }: PoolSize): number {
  return share;
}
