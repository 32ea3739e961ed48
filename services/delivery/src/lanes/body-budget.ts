import { Holdings } from "@vidimus/kit/fair/holdings";
import type { Delivery } from "../domain/delivery.ts";
import { snapshotKey } from "../domain/payload.ts";

export type WithBody = Pick<Delivery, "tenantId" | "documentId" | "sequence" | "bodyBytes">;

/** Bodies for which memory is reserved until disposal. */
interface HeldBodies extends Disposable {
  /** Reserves memory for the body of a delivery. @returns whether there was enough */
  take(delivery: WithBody): boolean;
}

interface Body {
  readonly bytes: number;
  uses: number;
}

/**
 * Limits the bytes of bodies that leased lanes need. Ingest and claims ask it before they take a
 * lease, so that no process leases more than it can hold. A lane that goes on with its next row is
 * released when that row's body does not fit. A body counts once for all its endpoints. A tenant
 * gets at most half, or a single larger body. A body of any size is allowed while no other one is
 * held.
 */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #bodies = new Map<string, Body>();
  readonly #held = new Holdings();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  take(delivery: WithBody): boolean {
    const key = snapshotKey(delivery);
    const known = this.#bodies.get(key);
    if (known) {
      known.uses += 1;
      return true;
    }
    const { tenantId, bodyBytes: bytes } = delivery;
    if (!this.#fits(tenantId, bytes)) return false;
    this.#bodies.set(key, { bytes, uses: 1 });
    this.#held.add(tenantId, bytes);
    return true;
  }

  release(delivery: WithBody): void {
    const key = snapshotKey(delivery);
    const body = this.#bodies.get(key);
    if (!body) return;
    body.uses -= 1;
    if (body.uses > 0) return;
    this.#bodies.delete(key);
    this.#held.add(delivery.tenantId, -body.bytes);
  }

  /** Whether a quarter of a tenant's share is free, so that a claim is worth its commands. */
  hasCapacity(tenantId: string): boolean {
    return this.#fits(tenantId, this.#bytesMax / 8);
  }

  hold(): HeldBodies {
    const held: WithBody[] = [];
    return {
      take: (delivery) => {
        const isTaken = this.take(delivery);
        if (isTaken) held.push(delivery);
        return isTaken;
      },
      [Symbol.dispose]: () => {
        for (const delivery of held.splice(0)) this.release(delivery);
      },
    };
  }

  #fits(tenantId: string, bytes: number): boolean {
    const own = this.#held.of(tenantId);
    const isWithinShare = own === 0 || own + bytes <= this.#bytesMax / 2;
    const isWithinAll = this.#held.total === 0 || this.#held.total + bytes <= this.#bytesMax;
    return isWithinShare && isWithinAll;
  }
}
