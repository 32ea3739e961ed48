import type { Member } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { isoTime } from "../../rpc/iso-time.ts";

export function toShown({ memberId, identity, name, address, roles, createdAt, invitedBy }: Member) {
  const { issuer = "", subject = "" } = identity ?? {};
  return { id: memberId, name, address, roles, issuer, subject, createdAt: isoTime(createdAt), invitedBy };
}
