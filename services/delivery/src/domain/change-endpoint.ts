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
 * Decodes a secret of the caller. The bounds are those of Standard Webhooks.
 *
 * @throws DomainError `invalid`, without any part of the secret
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
 * The endpoint with another secret. The one before stays valid for the overlap; an overlap of 0
 * ends every older secret at once. When the secret before cannot be decrypted, only the new one is
 * valid, and the endpoint is enabled unless somebody disabled it.
 *
 * @throws DomainError `invalid` for an overlap that is too long, `failed_precondition` when two
 * secrets overlap already: ending the oldest would make webhooks unverifiable for a receiver that
 * has not changed its secret yet
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

/**
 * An endpoint whose secret could not be opened, with a new secret. Its waiting deliveries get their
 * full time again.
 */
function reopened(endpoint: ManagedEndpoint, secret: Uint8Array, now: Date): ManagedEndpoint {
  const { unopened: _, ...rest } = endpoint;
  const secrets = [secret] as const;
  return rest.disabled ? { ...rest, secrets } : { ...rest, secrets, enabled: true, enabledAt: now };
}

/** @throws DomainError `failed_precondition` when the endpoint's secret cannot be opened */
export function requireOpened({ unopened }: Pick<ManagedEndpoint, "unopened">): void {
  if (unopened === undefined) return;
  const remedy = "rotate its secret and give its headers again, or delete it and create it again";
  throw new DomainError("failed_precondition", `what the endpoint keeps secret cannot be opened: ${remedy}`);
}
