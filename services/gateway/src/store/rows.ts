import type { Binary } from "mongodb";

/** A tenant; `_id` is its id. */
export interface TenantRow {
  _id: string;
  name: string;
  createdAt: Date;
  createdBy: string;
  disabledAt?: Date;
  /** Incremented by every change of the tenant's keys, so that two concurrent changes conflict. */
  keyChanges?: number;
}

/** An API key; `_id` is its id. */
export interface ApiKeyRow {
  _id: string;
  tenantId: string;
  prefix: string;
  hash: Binary;
  /** Names the hash function, so that another can be added later. */
  hashAlg: "sha256";
  name: string;
  scopes: string[];
  createdAt: Date;
  createdBy: string;
  expiresAt?: Date;
  revokedAt?: Date;
  replacedBy?: string;
  lastUsedAt?: Date;
}

/** What a tenant has used of its budget in the current window; `_id` is the tenant's id. */
export interface WriteBudgetRow {
  _id: string;
  /** Points that were charged, and those of slices that were not returned. */
  used: number;
  endsAt: Date;
  /** Slices that gateways hold or have lost, with the points they were leased with. */
  slices: { lease: string; points: number; endsAt: Date }[];
  /** Of the newest charge: the points it got, its slice, its time by the database's clock. */
  granted: number;
  lent: number;
  chargedAt: Date;
}
