/** A pool that all tenants share. */
export interface PoolSize {
  /** Its label in metrics, for example `body_memory`. */
  readonly label: string;
  /** Its name in messages, for example "memory for request bodies". */
  readonly name: string;
  /** All there is, in requests or bytes. */
  readonly capacity: number;
  /** Unit of the amounts; messages show bytes as MiB. */
  readonly unit: "requests" | "bytes";
}

/** The most that one tenant may hold of a pool: half of it, in the pool's unit. */
export function shareOf({ capacity }: PoolSize): number {
  return Math.floor(capacity / 2);
}
