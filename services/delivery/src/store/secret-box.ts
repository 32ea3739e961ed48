import { box, isWrappedBy, type Kek, kekOf, openEnvelope, unbox } from "@vidimus/kit/kek/kek-box";
import type { KeyObject } from "node:crypto";

/** The endpoint that a secret belongs to, and the only URL at which the secret may be used. */
interface SecretOwner {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly url: string;
}

/** A box opens only as the kind with which it was sealed, so headers do not open as a secret. */
type SecretKind = "secret" | "headers";

/** Encrypts the secrets and headers of endpoints. */
export interface SecretBox {
  seal(owner: SecretOwner, kind: SecretKind, plain: Uint8Array): Buffer;
  /**
   * @throws ConfigError when `sealed` was sealed with a KEK that this process lacks
   * @throws Error when `sealed` was changed, or belongs to another endpoint, URL or kind
   */
  open(owner: SecretOwner, kind: SecretKind, sealed: Uint8Array): Buffer;
  /**
   * Whether `sealed` need not be sealed again: it is sealed with the newest KEK, or some process
   * may lack that KEK.
   */
  isCurrent(sealed: Uint8Array): boolean;
}

/** Progress of the replacement of the KEK. */
export interface KekChange {
  readonly newestId: string;
  /** Id of the previous KEK, while this process has it. */
  readonly otherId?: string;
  /** Whether every process has the newest KEK. Until then the previous one seals. */
  isShared: boolean;
}

/** The initial state of the replacement, before it is known which processes have the newest KEK. */
export function kekChangeOf(kek: KeyObject, other?: KeyObject): KekChange {
  const { id: newestId } = kekOf(kek, "");
  return other ? { newestId, otherId: kekOf(other, "").id, isShared: false } : { newestId, isShared: true };
}

/**
 * An envelope is a header, which names its KEK, and a box of AES-256-GCM that opens only for its
 * own endpoint and URL: a secret that was copied into another row does not open there, and when
 * only a row's URL was changed, no credentials are sent to that URL.
 *
 * @param other opens envelopes, too, while the KEK is replaced, and seals until `change` says that
 * every process has the newest
 */
export function createSecretBox(
  kek: KeyObject,
  other?: KeyObject,
  change: Pick<KekChange, "isShared"> = { isShared: true },
): SecretBox {
  const newest = kekOf(kek, "DELIVERY_KEK_FILE");
  const before = other && kekOf(other, "DELIVERY_OTHER_KEK_FILE");
  const keks = before ? [newest, before] : [newest];
  return {
    seal: (owner, kind, plain) => {
      const by = before && !change.isShared ? before : newest;
      return Buffer.concat([by.header, box(by.key, Buffer.from(plain), binding(by, owner, kind))]);
    },
    open: (owner, kind, sealed) => {
      const name = `the ${kind} of endpoint ${owner.endpointId}`;
      const { boxes, kek: by } = openEnvelope(sealed, keks, name);
      try {
        return unbox(by.key, boxes, binding(by, owner, kind));
      } catch (error) {
        throw new Error(`${name} was changed where it is stored`, { cause: error });
      }
    },
    isCurrent: (sealed) => !change.isShared || isWrappedBy(sealed, newest),
  };
}

function binding({ header }: Kek, { tenantId, endpointId, url }: SecretOwner, kind: SecretKind): Buffer {
  const bound = Buffer.from([kind, tenantId, endpointId, url].join("\n"));
  return Buffer.concat([Buffer.from("vidimus-endpoint\n"), header, bound]);
}
