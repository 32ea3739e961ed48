import { DomainError } from "@vidimus/kit/errors";
import { randomBytes } from "node:crypto";
import type { DisableReason } from "./disablement.ts";
import type { ManagedEndpoint } from "./endpoint.ts";

const secretBytes = 32;
const overlapMsMax = 7 * 24 * 60 * 60 * 1000;

export function newSecret(): Buffer {
  return randomBytes(secretBytes);
}

const givenSecret = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const [givenBytesMin, givenBytesMax] = [24, 64];

/**
 * Decodes a secret that the caller has chosen: `whsec_` and the base64 of 24 to 64 bytes, the
 * bounds of Standard Webhooks.
 *
 * @throws DomainError `invalid` for any other text; the message contains no part of the text
 */
export function parseSecret(text: string): Buffer {
  const [, base64 = ""] = givenSecret.exec(text) ?? [];
  const secret = Buffer.from(base64, "base64");
  const isExact = secret.toString("base64") === base64;
  if (isExact && secret.byteLength >= givenBytesMin && secret.byteLength <= givenBytesMax) return secret;
  const message = `must be whsec_ and the base64 of ${givenBytesMin} to ${givenBytesMax} random bytes`;
  throw new DomainError("invalid", `secret ${message}`, { violations: [{ pointer: "/secret", message }] });
}

/** A secret as Standard Webhooks writes it, which `parseSecret` reads. */
export function showSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString("base64")}`;
}

/** The endpoint, enabled; the same object if it was enabled already. */
export function enabled(endpoint: ManagedEndpoint, at: Date): ManagedEndpoint {
  if (endpoint.enabled) return endpoint;
  const { disabled: _, ...rest } = endpoint;
  return { ...rest, enabled: true, enabledAt: at };
}

/**
 * The endpoint, disabled; the same object if it was disabled already.
 *
 * @param by the actor who asked for it
 */
export function disabled(endpoint: ManagedEndpoint, reason: DisableReason, at: Date, by?: string): ManagedEndpoint {
  if (!endpoint.enabled) return endpoint;
  return { ...endpoint, enabled: false, disabled: { at, reason, ...(by ? { by } : {}) } };
}

/**
 * The endpoint with a new secret. The previous secret stays valid for the overlap; an overlap of 0
 * ends every older secret at once. When the stored secret or headers cannot be decrypted, only the
 * new secret is valid, and the endpoint is enabled unless somebody or a 410 has disabled it.
 *
 * @throws DomainError `invalid` for an overlap that is not from 0 to 7 days, `failed_precondition`
 * for an overlap above 0 while two secrets overlap already: a third one would end the oldest, and a
 * receiver that still has the oldest could verify no webhook
 */
export function rotated(endpoint: ManagedEndpoint, secret: Uint8Array, overlapMs: number, now: Date): ManagedEndpoint {
  if (!(overlapMs >= 0 && overlapMs <= overlapMsMax)) {
    const message = "must be from 0 to 7 days";
    throw new DomainError("invalid", `overlap ${message}`, { violations: [{ pointer: "/overlap", message }] });
  }
  if (endpoint.unopened !== undefined) return reopened(endpoint, secret, now);
  const { previousSecretEndsAt: until, ...rest } = endpoint;
  const [newest] = endpoint.secrets;
  if (overlapMs === 0) return { ...rest, secrets: [secret] };
  if (until) {
    const ends = `the secret was rotated, and the one before it is used until ${until.toISOString()}`;
    throw new DomainError("failed_precondition", `${ends}; an overlap of 0 ends both`);
  }
  return { ...rest, secrets: [secret, newest], previousSecretEndsAt: new Date(now.getTime() + overlapMs) };
}

/** Enabling the endpoint gives its waiting deliveries their full 72 hours again. */
function reopened(endpoint: ManagedEndpoint, secret: Uint8Array, now: Date): ManagedEndpoint {
  const { unopened: _, ...rest } = endpoint;
  const secrets = [secret] as const;
  return rest.disabled ? { ...rest, secrets } : { ...rest, secrets, enabled: true, enabledAt: now };
}

/**
 * @throws DomainError `failed_precondition` when the secret or headers cannot be decrypted
 */
export function requireOpened({ unopened }: Pick<ManagedEndpoint, "unopened">): void {
  if (unopened === undefined) return;
  const remedy = "rotate its secret and give its headers again, or delete it and create it again";
  throw new DomainError("failed_precondition", `what the endpoint keeps secret cannot be opened: ${remedy}`);
}
