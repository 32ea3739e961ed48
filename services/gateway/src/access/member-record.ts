import type { Identity } from "@vidimus/kit/person";

/** A person in one tenant. */
export interface MemberRecord {
  /** `personActor` of the identity. */
  readonly memberId: string;
  readonly tenantId: string;
  readonly identity: Identity;
  readonly name: string;
  /** E-mail address to show, "" without one. It decides nothing. */
  readonly address: string;
  readonly roles: readonly string[];
  readonly createdAt: Date;
  /** Actor. */
  readonly invitedBy: string;
}

/** Someone who is about to become a member. */
export type Newcomer = Pick<MemberRecord, "memberId" | "identity" | "name" | "address">;

/** A tenant that an identity is a member of. */
export interface MembershipRecord {
  readonly tenantName: string;
  readonly tenantDisabled: boolean;
  readonly member: MemberRecord;
}

/** Roles that wait for someone who has the code. */
export interface InvitationRecord {
  readonly invitationId: string;
  readonly tenantId: string;
  readonly roles: readonly string[];
  /** For whom, as the inviter noted it. */
  readonly note: string;
  /** Actor. */
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** What a code signs in to. */
export interface SignInLinkRecord {
  readonly tenantId: string;
  readonly identity: Identity;
  /** Of a member that is made when the code is used. */
  readonly roles: readonly string[];
  /** Actor. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}
