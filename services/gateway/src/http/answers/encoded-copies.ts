import { TenantCache } from "../../pools/tenant-cache.ts";
import type { Encoding } from "./choose-encoding.ts";
import { compressAside } from "./compress.ts";

/** Names an answer that many readers of a tenant get. */
export interface SharedName {
  readonly tenantId: string;
  /** Identifies the request within the tenant. */
  readonly name: string;
}

interface Copy {
  readonly plain: readonly Uint8Array[];
  readonly encoded: Map<Encoding, Promise<Buffer>>;
}

/**
 * Compressed copies of answers that many readers get, so that each is compressed once. A copy is
 * used only for an answer with the same bytes. The bytes are compared, because two pages with one
 * entity tag can differ: documents reads the tag before the page.
 */
export class EncodedCopies {
  readonly #copies: TenantCache<Copy>;

  /** @param bytesMax for all tenants; a copy counts twice the bytes of the plain answer */
  constructor(bytesMax: number) {
    this.#copies = new TenantCache(bytesMax);
  }

  async get(shared: SharedName, plain: readonly Uint8Array[], encoding: Encoding): Promise<Buffer> {
    const copy = this.#find(shared, plain) ?? this.#keep(shared, plain);
    const known = copy.encoded.get(encoding);
    if (known) return known;
    const encoded = compressAside(Buffer.concat(plain), encoding);
    copy.encoded.set(encoding, encoded);
    encoded.catch(() => copy.encoded.delete(encoding));
    return encoded;
  }

  #find({ tenantId, name }: SharedName, plain: readonly Uint8Array[]): Copy | undefined {
    const copy = this.#copies.get(tenantId, name);
    return copy && sameBytes(copy.plain, plain) ? copy : undefined;
  }

  #keep({ tenantId, name }: SharedName, plain: readonly Uint8Array[]): Copy {
    const copy = { plain, encoded: new Map<Encoding, Promise<Buffer>>() };
    this.#copies.set(tenantId, name, copy, 2 * plain.reduce((sum, piece) => sum + piece.byteLength, 0));
    return copy;
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
