import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { hashCode } from "../../access/one-time-code.ts";
import type { SignInLinkStore } from "../../store/sign-in-link-store.ts";

export interface GetSignInLinkDeps {
  signInLinks: Pick<SignInLinkStore, "find">;
  now: () => Date;
}

export function getSignInLink(deps: GetSignInLinkDeps): MethodImpl<typeof MemberService.method.getSignInLink> {
  return async ({ code }) => {
    const { link, tenantName } = await deps.signInLinks.find(hashCode(code), deps.now());
    const { identity, tenantId, roles } = link;
    return { identity, tenantId, tenantName, roles: [...roles] };
  };
}
