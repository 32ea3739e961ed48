import { Counter, type Registry } from "prom-client";
import type { HttpError } from "../errors/http-error.ts";
import type { PoolSize } from "./pool-size.ts";
import { poolExhausted, shareInUse } from "./pool-errors.ts";

/** `share`: the tenant asks for more than its share. `pool`: too little of the pool is left. */
type PoolOutcome = "share" | "pool";

export class PoolRefusals {
  readonly #refused: Counter<"pool" | "outcome">;

  constructor(registry: Registry) {
    this.#refused = new Counter({
      name: "vidimus_shares_refused_total",
      help: "Requests turned away for a pool that tenants share: beyond the tenant's share, or the pool was exhausted.",
      labelNames: ["pool", "outcome"],
      registers: [registry],
    });
  }

  /**
   * Counts a refusal and returns its error: 429 for a share, 503 for a pool, both with
   * `Retry-After`.
   */
  refuse(size: PoolSize, outcome: PoolOutcome): HttpError {
    this.#refused.inc({ pool: size.label, outcome });
    return outcome === "share" ? shareInUse(size) : poolExhausted(size);
  }
}
