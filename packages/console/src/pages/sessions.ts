import type { PersonRoute, PersonCall } from "../http/route.ts";
import type { Session } from "../domain/session.ts";
import type { SessionStore } from "../store/session-store.ts";
import { browserName } from "./browser-name.ts";
import { type Column, dataTable } from "./parts/data-table.ts";
import { hidden } from "./parts/form.ts";
import { type Html, html } from "../markup/html.ts";
import { layout } from "./layout.ts";
import { pageHead } from "./parts/page-head.ts";
import { state } from "./parts/state.ts";
import { instant, timeAgo } from "./parts/times.ts";

interface GetSessionsDeps {
  readonly sessions: Pick<SessionStore, "list">;
}

export function getSessions({ sessions }: GetSessionsDeps): PersonRoute {
  return {
    access: "signed in",
    method: "GET",
    url: "/sessions",
    handle: async (call) => {
      const own = await sessions.list(call.person.session.identity, call.now);
      return { status: 200, page: sessionsPage(call, own) };
    },
  };
}

const lead =
  "Where you are signed in. A session ends after 8 hours without use, and 24 hours after its sign-in. End those that are not yours.";

function sessionsPage(call: PersonCall, sessions: readonly Session[]): Html {
  const count = sessions.length === 1 ? "1 session" : `${sessions.length} sessions`;
  return layout(
    { title: "Sessions", person: call.person, path: "/sessions" },
    html`${pageHead({ title: "Sessions", lead })}
    ${dataTable({ caption: `${count}, the last used first`, columns: columnsFor(call), rows: sessions })}`,
  );
}

function columnsFor({ person, now }: PersonCall): Column<Session>[] {
  const isCurrent = ({ sessionId }: Session) => sessionId === person.session.sessionId;
  return [
    {
      label: "Browser",
      cell: (session) =>
        html`<span title="${session.userAgent}">${browserName(session.userAgent)}</span>
          ${isCurrent(session) && state("ok", "this one")}`,
    },
    { label: "Address", cell: ({ from }) => html`<code>${from}</code>` },
    { label: "Signed in", cell: ({ createdAt }) => instant(createdAt) },
    { label: "Last used", cell: ({ lastSeenAt }) => timeAgo(lastSeenAt, now) },
    { label: "End", isQuiet: true, cell: (session) => (isCurrent(session) ? signOutForm : endForm(session)) },
  ];
}

const signOutForm = html`<form method="post" action="/sign-out"><button>Sign out</button></form>`;

function endForm({ sessionId, userAgent, from }: Session): Html {
  const label = `End the session in ${browserName(userAgent)}, ${from}`;
  return html`<form method="post" action="/sessions/end">
    ${hidden("session", sessionId)}<button class="danger" aria-label="${label}">End</button>
  </form>`;
}
