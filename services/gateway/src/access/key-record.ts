import type { Scope } from "./scopes.ts";

/** A stored API key: everything but the key itself. */
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
  /** From then on the key is not valid. */
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  /** Id of the key that replaced it when it was rolled. */
  readonly replacedBy?: string;
  /** To the minute, and up to two minutes late. */
  readonly lastUsedAt?: Date;
}

/** A key as verification reads it, with the state of its tenant. */
export interface KnownKey extends Pick<
  KeyRecord,
  "keyId" | "tenantId" | "prefix" | "hash" | "scopes" | "expiresAt" | "revokedAt"
> {
  readonly tenantDisabled: boolean;
}

/** A stored tenant. */
export interface TenantRecord {
  readonly tenantId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly disabledAt?: Date;
}
