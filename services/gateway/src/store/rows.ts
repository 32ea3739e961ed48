import type { Binary } from "mongodb";

/** A tenant; `_id` is its id. */
export interface TenantRow {
  _id: string;
  name: string;
  createdAt: Date;
  createdBy: string;
  disabledAt?: Date;
  /**
   * Incremented by every change of the tenant's keys, except of their last use, so that two
   * concurrent changes conflict.
   */
  keyChanges?: number;
  /**
   * Incremented by every change of the tenant's members, invitations and sign-in links, so that two
   * concurrent changes conflict.
   */
  memberChanges?: number;
}

/** A member; `_id` is the tenant, "/" and the member id. */
export interface MemberRow {
  _id: string;
  tenantId: string;
  memberId: string;
  issuer: string;
  subject: string;
  name: string;
  /** Sort key of members: the first 64 characters of the name's `comparableName`. */
  order: string;
  address: string;
  roles: string[];
  createdAt: Date;
  invitedBy: string;
}

/** The name of a removed member, so that the history of documents can still show it. */
export interface FormerMemberRow {
  /** The key of the member's row. */
  _id: string;
  tenantId: string;
  memberId: string;
  name: string;
}

/** An invitation; `_id` is its id. */
export interface InvitationRow {
  _id: string;
  tenantId: string;
  /** SHA-256 of the code. */
  hash: Binary;
  roles: string[];
  note: string;
  invitedBy: string;
  createdAt: Date;
  /** From this time on the code is not found; MongoDB deletes the row. */
  expiresAt: Date;
  state: "open" | "accepted" | "revoked";
  /** Id of the member that accepted the invitation. */
  acceptedBy?: string;
}

/** A sign-in link; `_id` is the SHA-256 of the code. */
export interface SignInLinkRow {
  _id: Binary;
  tenantId: string;
  issuer: string;
  subject: string;
  roles: string[];
  createdBy: string;
  createdAt: Date;
  /** From this time on the link is not found; MongoDB deletes the row. */
  expiresAt: Date;
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
  /** Slices that gateways hold or have lost, with the points with which they were leased. */
  slices: { lease: string; points: number; endsAt: Date }[];
  /**
   * Of the newest charge: `granted` points, those `lent` as its slice, and its time by the
   * database's clock. They are in the row because the update answers nothing but the row.
   */
  granted: number;
  lent: number;
  chargedAt: Date;
}
