import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { pagePosition, pageSize } from "@vidimus/kit/page-request";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireAdministrator } from "../../access/access-rules.ts";
import type { MemberPosition, MemberStore } from "../../store/member-store.ts";
import { memberToProto } from "./messages.ts";

export interface ListMembersDeps {
  members: Pick<MemberStore, "list" | "listNames" | "requireOwnRole">;
}

/** Longest page token; it contains 64 characters of a name. */
const tokenCharactersMax = 512;
/** Most names of a page. A name has at most 200 characters, so a page has at most about 4 MiB. */
const namesMax = 5_000;

export function listMembers({ members }: ListMembersDeps): MethodImpl<typeof MemberService.method.listMembers> {
  return async (request, context) => {
    const by = callContext(context);
    requireAdministrator(by.role);
    const tenantId = requireTenantId(request.tenantId);
    const limit = pageSize(request.limit, request.namesOnly ? namesMax : undefined);
    const after = pagePosition(request.pageToken, readPosition, tokenCharactersMax);
    await members.requireOwnRole(tenantId, by);
    if (request.namesOnly) {
      const { names, next } = await members.listNames(tenantId, { limit, after }, context.signal);
      return { members: names, nextPageToken: tokenOf(next) };
    }
    const page = await members.list(tenantId, { limit, after }, context.signal);
    return { members: page.members.map(memberToProto), nextPageToken: tokenOf(page.next) };
  };
}

function tokenOf(next: MemberPosition | undefined): string {
  return next ? encodeOpaqueToken([next.order, next.memberId]) : "";
}

function readPosition([order, memberId]: readonly (string | number)[]): MemberPosition | undefined {
  return typeof order === "string" && typeof memberId === "string" ? { order, memberId } : undefined;
}
