import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { hashCode } from "../../access/one-time-code.ts";
import type { SignInLinkStore } from "../../store/sign-in-link-store.ts";
import { memberToProto } from "./messages.ts";

export interface RedeemSignInLinkDeps {
  signInLinks: Pick<SignInLinkStore, "redeem">;
  now: () => Date;
}

export function redeemSignInLink(deps: RedeemSignInLinkDeps): MethodImpl<typeof MemberService.method.redeemSignInLink> {
  return async ({ code }, context) => {
    const by = authorOf(callContext(context));
    const member = await deps.signInLinks.redeem(hashCode(code), by, deps.now());
    return { member: memberToProto(member) };
  };
}
