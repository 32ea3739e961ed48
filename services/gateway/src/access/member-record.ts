import type { Identity } from "@vidimus/kit/rpc/context/person";

export interface MemberRecord {
  /** `personActor` of the identity. */
  readonly memberId: string;
  readonly tenantId: string;
  readonly identity: Identity;
  readonly name: string;
  /** E-mail address to show; "" without one. No right depends on it. */
  readonly address: string;
  readonly roles: readonly string[];
  readonly createdAt: Date;
  /** Actor of the inviter, or of the creator of the sign-in link. */
  readonly invitedBy: string;
}

export type Newcomer = Pick<MemberRecord, "memberId" | "identity" | "name" | "address">;

export interface MembershipRecord {
  readonly tenantName: string;
  readonly tenantDisabled: boolean;
  readonly member: MemberRecord;
}

/** An invitation: roles for the person who has its code. */
export interface InvitationRecord {
  readonly invitationId: string;
  readonly tenantId: string;
  readonly roles: readonly string[];
  /** The inviter's note of whom the invitation is for. */
  readonly note: string;
  /** Actor of the inviter. */
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface SignInLinkRecord {
  readonly tenantId: string;
  readonly identity: Identity;
  /** Roles that the person gets with the use of the code, unless the person is a member by then. */
  readonly roles: readonly string[];
  /** Actor of the creator. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}
