import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireLinkIdentity, requireRoles, signInLinkMs } from "../../access/member-rules.ts";
import { mintCode } from "../../access/one-time-code.ts";
import type { SignInLinkStore } from "../../store/sign-in-link-store.ts";

export interface CreateSignInLinkDeps {
  signInLinks: Pick<SignInLinkStore, "insert">;
  now: () => Date;
}

export function createSignInLink(deps: CreateSignInLinkDeps): MethodImpl<typeof MemberService.method.createSignInLink> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    const createdAt = deps.now();
    const link = {
      tenantId: requireTenantId(request.tenantId),
      identity: requireLinkIdentity(request.subject),
      roles: request.roles.length === 0 ? [] : requireRoles(request.roles),
      createdBy: by.actor,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + signInLinkMs),
    };
    const { code, hash } = mintCode();
    await deps.signInLinks.insert(link, hash, by);
    return { code, expiresAt: timestampFromDate(link.expiresAt) };
  };
}
