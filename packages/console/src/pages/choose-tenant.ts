import { DomainError } from "@vidimus/kit/errors";
import type { PersonRoute } from "../http/route.ts";
import type { SessionStore } from "../store/session-store.ts";

interface ChooseTenantDeps {
  readonly sessions: Pick<SessionStore, "chooseTenant">;
}

/** `POST /tenant`: opens another tenant of the person, which `/` then opens in this session. */
export function chooseTenant({ sessions }: ChooseTenantDeps): PersonRoute {
  return {
    access: "signed in",
    method: "POST",
    url: "/tenant",
    fields: { tenant: "Newsroom to open" },
    handle: async ({ form, person: { cookieId, memberships } }) => {
      const tenantId = form.get("tenant") ?? "";
      if (!memberships.some((membership) => membership.tenantId === tenantId)) {
        throw new DomainError("not_found", "there is no such newsroom");
      }
      await sessions.chooseTenant(cookieId, tenantId);
      return { to: `/t/${tenantId}` };
    },
  };
}
