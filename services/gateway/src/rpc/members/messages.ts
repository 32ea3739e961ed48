import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  InvitationSchema,
  MembershipSchema,
  MemberSchema,
} from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { InvitationRecord, MemberRecord, MembershipRecord } from "../../access/member-record.ts";

export function memberToProto({ roles, createdAt, ...rest }: MemberRecord): MessageInitShape<typeof MemberSchema> {
  return { ...rest, roles: [...roles], createdAt: timestampFromDate(createdAt) };
}

export function membershipToProto(membership: MembershipRecord): MessageInitShape<typeof MembershipSchema> {
  const { tenantName, tenantDisabled, member } = membership;
  return { tenantId: member.tenantId, tenantName, tenantDisabled, member: memberToProto(member) };
}

export function invitationToProto(invitation: InvitationRecord): MessageInitShape<typeof InvitationSchema> {
  const { roles, createdAt, expiresAt, ...rest } = invitation;
  return {
    ...rest,
    roles: [...roles],
    createdAt: timestampFromDate(createdAt),
    expiresAt: timestampFromDate(expiresAt),
  };
}
