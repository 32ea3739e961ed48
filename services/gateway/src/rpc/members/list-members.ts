import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { pagePlace, pageSize } from "@vidimus/kit/page-request";
import { callContext } from "@vidimus/kit/rpc/call-context";
import { requireAdministrator } from "../../access/access-rules.ts";
import type { MemberPlace, MemberStore } from "../../store/member-store.ts";
import { memberToProto } from "./messages.ts";

export interface ListMembersDeps {
  members: Pick<MemberStore, "list" | "requireOwnRole">;
}

/** A token holds 64 characters of a name. */
const tokenCharactersMax = 512;

/** Implements `ListMembers`. */
export function listMembers({ members }: ListMembersDeps): MethodImpl<typeof MemberService.method.listMembers> {
  return async (request, context) => {
    const by = callContext(context);
    requireAdministrator(by.role);
    const tenantId = requireTenantId(request.tenantId);
    const limit = pageSize(request.limit);
    const after = pagePlace(request.pageToken, readPlace, tokenCharactersMax);
    await members.requireOwnRole(tenantId, by);
    const page = await members.list(tenantId, { limit, after }, context.signal);
    const nextPageToken = page.next ? encodeOpaqueToken([page.next.order, page.next.memberId]) : "";
    return { members: page.members.map(memberToProto), nextPageToken };
  };
}

function readPlace([order, memberId]: readonly (string | number)[]): MemberPlace | undefined {
  return typeof order === "string" && typeof memberId === "string" ? { order, memberId } : undefined;
}
