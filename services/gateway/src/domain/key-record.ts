import type { Scope } from "./scope.ts";

/** An API key as it is kept: everything but the key. */
export interface KeyRecord {
  readonly keyId: string;
  readonly tenantId: string;
  readonly prefix: string;
  /** SHA-256 of the whole key, 32 bytes. */
  readonly hash: Buffer;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly createdBy: string;
  /** From then on the key opens nothing. */
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  /** The key that took its place when it was rolled. */
  readonly replacedBy?: string;
  /** To the minute, and up to two minutes late. */
  readonly lastUsedAt?: Date;
}

/** What verification needs to know of a key. */
export interface KnownKey extends Pick<
  KeyRecord,
  "keyId" | "tenantId" | "prefix" | "hash" | "scopes" | "expiresAt" | "revokedAt"
> {
  readonly tenantDisabled: boolean;
}

/** A tenant as it is kept. */
export interface TenantRecord {
  readonly tenantId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly disabledAt?: Date;
}
