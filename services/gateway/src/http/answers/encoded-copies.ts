import { Holdings } from "@vidimus/kit/queues/holdings";
import type { Encoding } from "./choose-encoding.ts";
import { compressAside } from "./compress.ts";

/** An answer that many readers of a tenant get. */
export interface SharedName {
  readonly tenantId: string;
  /** Names what was asked for, within the tenant. */
  readonly name: string;
}

interface Copy {
  readonly plain: readonly Uint8Array[];
  readonly bytes: number;
  readonly encoded: Map<Encoding, Promise<Buffer>>;
}

/**
 * Compressed copies of answers that many readers get, so that each is compressed once. A copy is
 * used only for an answer of the same bytes, which are compared: a tag can be older than its page.
 *
 * A tenant has at most half of the space. Its copies that were used longest ago make room.
 */
export class EncodedCopies {
  readonly #bytesMax: number;
  readonly #held = new Holdings();
  /** By tenant and name; the copies used last stand last. */
  readonly #tenants = new Map<string, Map<string, Copy>>();

  /** @param bytesMax for all tenants; a copy counts twice the bytes of the plain answer */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The compressed bytes of an answer. */
  async get({ tenantId, name }: SharedName, plain: readonly Uint8Array[], encoding: Encoding): Promise<Buffer> {
    const copy = this.#find(tenantId, name, plain) ?? this.#keep(tenantId, name, plain);
    const known = copy.encoded.get(encoding);
    if (known) return known;
    const encoded = compressAside(Buffer.concat(plain), encoding);
    copy.encoded.set(encoding, encoded);
    encoded.catch(() => copy.encoded.delete(encoding));
    return encoded;
  }

  #find(tenantId: string, name: string, plain: readonly Uint8Array[]): Copy | undefined {
    const copy = this.#tenants.get(tenantId)?.get(name);
    if (!copy) return undefined;
    this.#drop(tenantId, name, copy);
    if (!sameBytes(copy.plain, plain)) return undefined;
    this.#add(tenantId, name, copy);
    return copy;
  }

  #keep(tenantId: string, name: string, plain: readonly Uint8Array[]): Copy {
    const bytes = 2 * plain.reduce((sum, piece) => sum + piece.byteLength, 0);
    const copy = { plain, bytes, encoded: new Map<Encoding, Promise<Buffer>>() };
    if (bytes > this.#bytesMax / 2) return copy;
    while (this.#held.of(tenantId) + bytes > this.#bytesMax / 2) this.#dropOldest(tenantId);
    while (this.#held.total + bytes > this.#bytesMax) this.#dropOldest(this.#largest());
    this.#add(tenantId, name, copy);
    return copy;
  }

  #add(tenantId: string, name: string, copy: Copy): void {
    const copies = this.#tenants.get(tenantId) ?? new Map<string, Copy>();
    this.#tenants.set(tenantId, copies.set(name, copy));
    this.#held.add(tenantId, copy.bytes);
  }

  #dropOldest(tenantId: string): void {
    const [oldest] = this.#tenants.get(tenantId) ?? [];
    if (oldest) this.#drop(tenantId, ...oldest);
  }

  #drop(tenantId: string, name: string, { bytes }: Copy): void {
    const copies = this.#tenants.get(tenantId);
    copies?.delete(name);
    if (copies?.size === 0) this.#tenants.delete(tenantId);
    this.#held.add(tenantId, -bytes);
  }

  /** The tenant whose copies take the most space. */
  #largest(): string {
    let largest = "";
    for (const tenantId of this.#tenants.keys()) {
      if (this.#held.of(tenantId) > this.#held.of(largest)) largest = tenantId;
    }
    return largest;
  }
}

function sameBytes(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  return (
    one.length === other.length &&
    one.every((piece, index) => {
      const against = other[index];
      return against !== undefined && (piece === against || Buffer.compare(piece, against) === 0);
    })
  );
}
