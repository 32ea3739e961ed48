import { box, isWrappedBy, type Kek, kekOf, openEnvelope, unbox } from "@vidimus/kit/kek/kek-box";
import type { KeyObject } from "node:crypto";

/** The endpoint that a secret belongs to, and the URL that it may be used at. */
interface SecretOwner {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly url: string;
}

/** What is sealed: its owner's secret, or the headers that it asked for. */
type SecretKind = "secret" | "headers";

/** Encrypts what endpoints keep secret. */
export interface SecretBox {
  seal(owner: SecretOwner, kind: SecretKind, plain: Uint8Array): Buffer;
  /**
   * @throws ConfigError when it was sealed by another KEK
   * @throws Error when it was changed, or belongs to another endpoint or URL
   */
  open(owner: SecretOwner, kind: SecretKind, sealed: Uint8Array): Buffer;
  /** Whether it was sealed by the KEK that seals now. */
  isCurrent(sealed: Uint8Array): boolean;
}

/**
 * Makes the box. An envelope is a header, which names its KEK, and a box of AES-256-GCM that opens
 * only for its own endpoint and URL: a row's secret that was copied into another row does not open
 * there, and a row whose URL was changed alone sends no credentials to it.
 *
 * @param other opens envelopes too, while the KEK is replaced; it seals none
 */
export function createSecretBox(kek: KeyObject, other?: KeyObject): SecretBox {
  const current = kekOf(kek, "DELIVERY_KEK_FILE");
  const keks = other ? [current, kekOf(other, "DELIVERY_OTHER_KEK_FILE")] : [current];
  return {
    seal: (owner, kind, plain) => {
      const aad = binding(current, owner, kind);
      return Buffer.concat([current.header, box(current.key, Buffer.from(plain), aad)]);
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
    isCurrent: (sealed) => isWrappedBy(sealed, current),
  };
}

function binding({ header }: Kek, { tenantId, endpointId, url }: SecretOwner, kind: SecretKind): Buffer {
  const bound = Buffer.from([kind, tenantId, endpointId, url].join("\n"));
  return Buffer.concat([Buffer.from("vidimus-endpoint\n"), header, bound]);
}
