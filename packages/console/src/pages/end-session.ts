import type { PersonRoute } from "../http/route.ts";
import type { SessionStore } from "../store/session-store.ts";

interface EndSessionDeps {
  readonly sessions: Pick<SessionStore, "endOne">;
}

/** `POST /sessions/end`: ends one of the person's own sessions. Repeating it changes nothing. */
export function endSession({ sessions }: EndSessionDeps): PersonRoute {
  return {
    access: "signed in",
    method: "POST",
    url: "/sessions/end",
    handle: async ({ form, person }) => {
      await sessions.endOne(person.session.identity, form.get("session") ?? "");
      return { to: "/sessions" };
    },
  };
}
