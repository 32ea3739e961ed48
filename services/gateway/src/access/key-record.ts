import type { Scope } from "./scopes.ts";

/** A stored API key, without the key itself. */
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
  /** The key is not valid from this time on. */
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  /** Id of the successor, once this key was rolled. */
  readonly replacedBy?: string;
  /**
   * Rounded down to the minute and stored once a minute, so it is up to two minutes behind the
   * newest use, and more while the database fails. A killed gateway loses what it had not stored.
   */
  readonly lastUsedAt?: Date;
}

/** A key with the state of its tenant, as verification reads it. */
export interface KnownKey extends Pick<
  KeyRecord,
  "keyId" | "tenantId" | "prefix" | "hash" | "scopes" | "expiresAt" | "revokedAt"
> {
  readonly tenantDisabled: boolean;
}

export interface TenantRecord {
  readonly tenantId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly disabledAt?: Date;
}
